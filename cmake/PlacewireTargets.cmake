# Compile options that all of our own C++ targets share.

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
