// The driver for shapes.fbs.

#include "driver.h"
#include "placewire/schema/mirrors/verifier.h"
#include "placewire/schema/shapes/verifier.h"

int main(int argument_count, char** arguments) {
  namespace schema = placewire::schema;
  using placewire::tests::root;
  return placewire::tests::serve(
      argument_count, arguments,
      {root<schema::shapes::Scene>("Scene"), root<schema::shapes::Node>("Node"),
       root<schema::shapes::Label>("Label"), root<schema::shapes::Vector_>("Vector"),
       root<schema::mirrors::Mirror>("Mirror")});
}
