// Marks what libplacewire.so exports; everything else in it stays hidden.
#pragma once

#if defined(__GNUC__)
#define PLACEWIRE_API __attribute__((visibility("default")))
#else
#define PLACEWIRE_API
#endif
