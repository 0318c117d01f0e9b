"""Small schemas that flatc accepts and we do not, and why."""

from __future__ import annotations

STRICTER: dict[str, str] = {
    "enum E:byte {A=5,B=4,C}": "flatc misses equal values that are not neighbours in the text",
    "enum E:ubyte (bit_flags, bit_flags) {A}": "an attribute given twice hides one of its values",
    "table T { a:int (id:0, id:0); }": "an attribute given twice hides one of its values",
    "struct S { a:int; s:S; }": "flatc accepts a struct that contains itself and then writes C++ "
    "that does not compile",
    "struct S { a:int (id:1); b:int (id:0); }": "ids do not move the fields of a struct",
    "struct S { a:[ubyte:65535]; b:[ubyte:65535]; c:int; }": "flatc cuts offsets to 16 bits, "
    "and c lies where a does",
    "table T { a:int (id); }": "flatc reads an id without a number as 0",
    "table T { a:[ubyte] (force_align); }": "flatc reads an alignment without a number as 0",
    "table T { a:[ubyte] (force_align:3); }": "no address is aligned so",
    "table T { a:[ubyte] (force_align:0); }": "no address is aligned so",
    "table T { a:[ubyte] (force_align:-8); }": "no address is aligned so",
    'struct S { a:int; } table T { a:[ubyte] (nested_flatbuffer:"S"); }': "the root of a "
    "FlatBuffer is a table",
    "namespace A; table T { x: V; } namespace B; table V {} namespace A; table V {}": "flatc takes "
    "the next `V` in whatever namespace, a reader the one of the same namespace",
    "union U { A = 1, B = 1 } table A {} table B {}": "two members of one tag cannot be told apart",
    "table T {} table R {} root_type T; root_type R;": "the last one would win silently",
    'file_identifier "ABCD"; file_identifier "EFGH";': "the last one would win silently",
    'file_extension "a"; file_extension "b";': "the last one would win silently",
    'enum E:ubyte {A} table T { a:[E] (nested_flatbuffer:"T"); }': "its elements are no bytes",
    "enum E:ubyte {A} table T { a:[E] (flexbuffer); }": "its elements are no bytes",
    "table T { a:[ubyte] (force_align:65536); }": "no writer aligns so far",
    "table T { a:string (force_align:3); }": "no address is aligned so",
    "struct S { a:[ulong:65535]; } struct R { s:[S:65535]; }": "flatc cuts the size to 32 bits",
}
