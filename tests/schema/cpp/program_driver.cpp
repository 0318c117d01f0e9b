// The driver for the project's own schemas.

#include "driver.h"
#include "placewire/schema/device_info/verifier.h"
#include "placewire/schema/program/verifier.h"

int main(int argument_count, char** arguments) {
  namespace schema = placewire::schema;
  using placewire::tests::root;
  return placewire::tests::serve(
      argument_count, arguments,
      {root<schema::program::Program>("Program"), root<schema::program::Tensor>("Tensor"),
       root<schema::program::EValue>("EValue"), root<schema::program::Chain>("Chain"),
       root<schema::program::Null>("Null"), root<schema::device_info::DeviceTable>("DeviceTable")});
}
