// The driver for language.fbs.

#include "placewire/schema/language/audit.h"
#include "placewire/schema/language/verifier.h"
#include "print_findings.h"

int main(int argument_count, char** arguments) {
  namespace schema = placewire::schema;
  using placewire::tests::audited_root;
  return placewire::tests::serve(
      argument_count, arguments,
      {audited_root<schema::language::Tree>("Tree"), audited_root<schema::language::Stem>("Stem"),
       audited_root<schema::language::Branch>("Branch"), audited_root<schema::parts::Knot>("Knot"),
       audited_root<schema::language::Texts>("Texts")});
}
