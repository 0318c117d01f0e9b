# Installs the C++ side into the wheel: library, headers, and the package that find_package() reads;
# and our [tool.placewire], which `placewire demo` starts from.
include(CMakePackageConfigHelpers)

set(package_directory placewire/cmake)

install(TARGETS placewire EXPORT placewire LIBRARY DESTINATION placewire/lib COMPONENT python)
install(
  DIRECTORY generated/include/ src/runtime/include/ src/backends/cuda/include/
  DESTINATION placewire/include
  COMPONENT python
  FILES_MATCHING
  PATTERN "*.h")
install(
  EXPORT placewire
  NAMESPACE placewire::
  FILE placewireTargets.cmake
  DESTINATION ${package_directory}
  COMPONENT python)
configure_package_config_file(
  cmake/placewireConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/placewireConfig.cmake
  INSTALL_DESTINATION ${package_directory}
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(
  ${CMAKE_CURRENT_BINARY_DIR}/placewireConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(
  FILES ${CMAKE_CURRENT_BINARY_DIR}/placewireConfig.cmake
        ${CMAKE_CURRENT_BINARY_DIR}/placewireConfigVersion.cmake
  DESTINATION ${package_directory}
  COMPONENT python)

install(FILES pyproject.toml DESTINATION placewire_codegen COMPONENT python)
