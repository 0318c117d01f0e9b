# Finds Python and nanobind, and adds extension modules.

find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)

# pip deletes its build environment, and with it the nanobind that the first configure found. When an
# editable install configures again on import, ask the interpreter's own environment instead.
if(NOT nanobind_DIR OR NOT EXISTS "${nanobind_DIR}")
  execute_process(
    COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
    OUTPUT_VARIABLE nanobind_cmake_dir
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
    RESULT_VARIABLE nanobind_missing)
  if(nanobind_missing)
    execute_process(
      COMMAND ${CMAKE_COMMAND} -E env --unset=PYTHONPATH ${Python_EXECUTABLE} -m nanobind --cmake_dir
      OUTPUT_VARIABLE nanobind_cmake_dir
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
      RESULT_VARIABLE nanobind_missing)
  endif()
  if(nanobind_missing)
    message(FATAL_ERROR "nanobind is not installed for ${Python_EXECUTABLE}.\n"
                        "Run: ${Python_EXECUTABLE} -m pip install nanobind")
  endif()
  set(nanobind_DIR "${nanobind_cmake_dir}" CACHE PATH "nanobind's CMake package" FORCE)
endif()
find_package(nanobind CONFIG REQUIRED)

# placewire_add_extension(name DESTINATION package SOURCES source...)
#
# A Python extension module built for speed (nanobind's own default is -Os), installed into a package.
function(placewire_add_extension name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "DESTINATION" "SOURCES")
  nanobind_add_module(${name} NB_STATIC NOMINSIZE NB_SUPPRESS_WARNINGS ${ARG_SOURCES})
  placewire_compile_options(${name})
  install(TARGETS ${name} LIBRARY DESTINATION ${ARG_DESTINATION} COMPONENT python)
endfunction()
