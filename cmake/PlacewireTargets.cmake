# Sources and compile options of our own C++ targets.

# placewire_compile_options(target)
#
# C++17, optimised for speed, without symbols that nobody asked to export. Warnings are errors where
# PLACEWIRE_WERROR is on; PLACEWIRE_SANITIZE instruments the target.
function(placewire_compile_options target)
  set_target_properties(
    ${target}
    PROPERTIES CXX_STANDARD 17
               CXX_STANDARD_REQUIRED ON
               CXX_EXTENSIONS OFF
               CXX_VISIBILITY_PRESET hidden
               VISIBILITY_INLINES_HIDDEN ON
               POSITION_INDEPENDENT_CODE ON)
  if(PLACEWIRE_WERROR)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion -Werror)
  endif()
  if(PLACEWIRE_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${PLACEWIRE_SANITIZE} -fno-omit-frame-pointer
                                             -fno-sanitize-recover=all)
    target_link_options(${target} PRIVATE -fsanitize=${PLACEWIRE_SANITIZE})
  endif()
endfunction()

# placewire_sources(variable folder)
#
# Sets `variable` to all .cpp files below `folder`; a folder without any is an error.
function(placewire_sources variable folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  if(NOT sources)
    message(FATAL_ERROR "${folder} holds no .cpp files.\nRun: python -m placewire_codegen")
  endif()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()
