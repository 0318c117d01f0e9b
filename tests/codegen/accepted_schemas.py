"""Small schemas that flatc accepts, and that our front end must accept, by topic."""

from __future__ import annotations

from pathlib import Path

_INCLUDED = {
    "other.fbs": "table Other {}\n",
    "rooted.fbs": "table Rooted {} root_type Rooted;\n"
    'file_identifier "ROOT"; file_extension "rt";\n',
    "loop.fbs": 'include "loop.fbs"; table Loop {}\n',
    "folder/inner.fbs": 'include "../other.fbs";\n'
    "namespace inner; enum Shade : byte { DARK, LIGHT }\n",
}


def write_included(folder: Path) -> None:
    """Write the files that some of the schemas include to where they look for them."""
    for name, text in _INCLUDED.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


ACCEPTED: dict[str, tuple[str, ...]] = {
    "defaults of enums": (
        "enum E:byte {A=1,B=2} table T { a:E=A; }",
        'enum E:byte {A=1,B=2} table T { a:E="A"; }',
        'enum E:byte {A=1,B=2} table T { a:int="E.A"; }',
        'enum E:byte {A=1,B=2} table T { a:int="E.A E.B"; }',
        'enum E:byte {A=1,B=2,C=3} table T { a:E="A B"; }',
        'enum E:ubyte (bit_flags) {A,B} table T { a:E="A B"; }',
        "enum E:ubyte (bit_flags) {A,B} table T { a:E=A; }",
        "enum E:ubyte (bit_flags) {A,B} table T { a:E=77; }",
        "enum E:ubyte (bit_flags) {A,B} table T { a:E; }",
        "enum E:ubyte (bit_flags) {A=7,B=0} table T { a:E; }",
        "enum E:byte (bit_flags) {A,B} table T { a:E; }",
        "enum E:byte (bit_flags) {A=6} table T { a:E; }",
        "enum E:ulong (bit_flags) {A=63} table T { a:E; }",
        'enum E:ubyte {A=1,B=2} table T { a:E=null; b:E="null";}',
        "enum E:ushort (bit_flags) {A=15} table T { e:E=32768; }",
    ),
    "defaults of numbers": (
        'table T { a:bool=2; c:bool; d:bool="true"; }',
        'table T { a:bool="1"; }',
        "table T { a:bool=true; }",
        "table T { a:bool=null; }",
        (
            "table T { a:float=0x1p4; b:float=inf; c:float=-infinity; d:float=+nan; "
            'e:double="1e3"; f:float="inf "; }'
        ),
        "table T { a:float=INF; b:float=NaN; }",
        "table T { a:float=1e400; }",
        "table T { a:double=1e400; }",
        "table T { a:double=0x1p5000; }",
        'table T { a:float=" 5"; }',
        'table T { y:float="0x1p3 "; z:float="infinity"; w:float="-inf"; v:float=" nan"; }',
        'table T { y:bool="1"; z:bool="0x1"; w:int="null"; v:float="null"; u:uint="-0"; }',
        'table T { a:float="5 "; }',
        'table T { a:int=" 5"; }',
        'table T { a:int="5 "; }',
        "table T { a:ulong=18446744073709551615; b:long=-9223372036854775808; }",
        "table T { a:ulong=-0; }",
        'table T { a:int="5"; b:int="0x5"; }',
        'table T { a:int="-5"; b:int="+5"; }',
        "table T { a:int=-0x5; }",
        "table T { a:int=007; }",
        "table T { a:float=rad(180); }",
        "table T { a:float=sin(-1); }",
        'table T { a:float=sin(cos(1.5)); b:float=deg("3"); }',
        "table T { a:float=sin(inf); b:float=asin(2); }",
        (
            "table T { a:byte=-128; b:short=-32768; c:int=-2147483648; d:ushort=65535; "
            "e:uint=4294967295; }"
        ),
        (
            "table "
            "T{a:float=cos(0);b:float=tan(0);c:float=acos(1);d:float=atan(0);e:float=sin(rad("
            "90)); f:double=rad(-180);}"
        ),
        (
            "table T { "
            "a:float=sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin("
            "sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin("
            "sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin("
            "sin(sin(0)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))); }"
        ),
        'table T{a:float="+inf"; b:float="NAN";}',
    ),
    "defaults of what is not a number": (
        "struct S { a:int=0; }",
        "struct S { a:float=0; }",
        "enum E:byte {A=1} table T { a:[E]; }",
    ),
    "defaults of strings": (
        'table T { a:string=""; }',
        "table T { a:string=\"x\"; b:string='y'; }",
        'table T { a:string="null"; }',
        'table T { a:string="x" (required); }',
        'table T { a:string="x" (key); }',
        'table T { a:string="x" (deprecated); }',
        'table T { a:string="0"; }',
        r'table T { a:string="é\n\"\\"; }',
        'table T { a:string="x" (shared); }',
        "table T { a:string=''; }",
        "table T { a:string='\"'; b:string=\"'\"; }",
        r'table T { a:string="a\u0000b"; }',
        'table T { a:string="x" (deprecated, required); }',
    ),
    "defaults of vectors": (
        "table T { a:[int]=[]; }",
        "table T { a:[ubyte]=[]; b:[string]=[]; c:[T]=[]; }",
        "table T { a:[int]=[ ]; }",
        "table T { a:[int]=[] (required); }",
        "table T { a:[int]=[] (deprecated); }",
        "enum E:byte {A=1} table T { a:[E]=[]; }",
        "struct S { a:int; } table T { a:[S]=[]; }",
        "union U {T} table T { a:[U]=[]; }",
        'table T { a:[ubyte]=[] (force_align:8, nested_flatbuffer:"T"); }',
    ),
    "words and signs in defaults": (
        "table T { a:int= -0; b:float=-0; c:int=+5;}",
        'enum E:byte {A=0} table T { a:E=-0; b:E="0"; c:E="0x0"; d:E=00; }',
    ),
    "enums": (
        "enum E:uint {A=4294967295,B=0} table T { a:E=A; }",
        "enum E:byte {A=-128}",
        "enum E:byte {}",
        "enum E:byte {} table T { a:E; }",
        "enum E:byte {A,}",
        "enum E:byte {A=5,B,C=0,D}",
        "enum E:int8 {A=0x7f}",
        "enum E:byte {A=+5}",
        "enum E:ulong {A=0xFFFFFFFFFFFFFFFF, B = 9}",
        "enum E:ubyte (deprecated) {A (deprecated)}",
        "enum E:short (bit_flags) {A=14}",
        "enum E:byte {A=0,B=-1,C=-128}",
        "enum E:byte {A=-1,B}",
    ),
    "tables, structs and their types": (
        "table T {}",
        "struct R { a:int; } struct S { t:R; }",
        "struct S { t:[int:3]; }",
        "struct S { t:[int:65535]; }",
        "struct S { t:[int:0x3]; }",
        "struct R { a:int; } struct S { t:[R:3]; }",
        (
            "table T { table:int; struct:int; enum:int; union:int; namespace:int; "
            "root_type:int; string:int; int:int; null:int; true:int; attribute:int; "
            "include:int; required:int;}"
        ),
        "table table { a:table; }",
        "table int { a:int; }",
        "table string { a:string; }",
        "struct int { a:int; } table T { x:[int]; }",
        (
            "table T { a:int8; b:uint8; c:int16; d:uint16; e:int32; f:uint32; g:int64; "
            "h:uint64; i:float32; j:float64; }"
        ),
        "enum enum:int {enum}",
        "union union {T} table T{}",
        "struct struct {a:int;}",
        "enum E:byte{A} struct S { a:[E:2]; }",
        "struct S { a:[bool:2]; b:[double:1]; }",
        "struct S { a:[ubyte:65535]; b:[ubyte:100]; } table T {s:S;}",
        "table _T1 { _a:int; a_1:int; __:int; }",
    ),
    "attributes of fields": (
        "table T { a:string (required); b:[int] (required); c:T (required); }",
        "struct S { a:int; } table T { a:S (required); }",
        "union U {T} table T { a:U (required); }",
        "table T { a:int (deprecated); b:string (deprecated); }",
        "table T { a:int (key); }",
        "table T { a:string (key); }",
        "struct S { a:int; } table T { a:S (key); }",
        "struct S { a:int (key); }",
        "struct S { a:[int:3] (key); }",
        "enum E:int {A} table T { a:E (key); }",
        'table T { a:uint (key, hash:"fnv1a_32"); }',
        "table T { a:string (key, required); }",
        "struct S { a:[int:3] (key); b:int; }",
        "union U {T} table T { u:U (deprecated); v:[U] (required); }",
    ),
    "ids": (
        "table T { a:int (id:0); b:int (id:1); }",
        "table T { a:int (id:1); b:int (id:0); }",
        "table T { a:int (id:0x0); }",
        'table T { a:int (id:"0"); }',
        "union U {T} table T { a:U (id:1); }",
        "union U {T} table T { a:int (id:0); b:U (id:2); }",
        "union U {T} table T { a:[U] (id:1); }",
        "union U {T} table T { a:[U]; }",
        "union U {T} table T { u:U (id:2); a:int (id:0); }",
        "union U {T} table T { u:[U] (id:1); v:[U] (id:3); }",
        "table T { a:int (id:0, deprecated); b:string (id:1, required); }",
    ),
    "alignment": (
        "table T { a:[ubyte] (force_align:16); }",
        "table T { a:[int] (force_align:2); }",
        "table T { a:int (force_align:16); }",
        "table T { a:string (force_align:16); }",
        "table T (force_align:16) { a:int; }",
        "struct S (force_align:16) { a:int; }",
        'struct S (force_align:"16") { a:int; }',
        "struct S { a:int (force_align:16); }",
        "table T { a:[ubyte] (force_align:32768); }",
        "struct S (force_align:1) { a:byte; }",
        "table T { a:[string] (force_align:16); b:[T] (force_align:8); }",
        "struct S {a:int;} table T { a:[S] (force_align:16); b:S (force_align:16); }",
    ),
    "attributes with a meaning of their own": (
        'table T { a:[ubyte] (nested_flatbuffer:"T"); }',
        'namespace A; table X {} namespace B; table T { a:[ubyte] (nested_flatbuffer:"A.X"); }',
        "table T { a:[ubyte] (flexbuffer); }",
        "table T { a:string (shared); }",
        (
            'table T { a:uint (hash:"fnv1_32"); b:ulong (hash:"fnv1a_64"); c:ushort '
            '(hash:"fnv1_16"); d:[uint] (hash:"fnv1_32"); }'
        ),
        'table T { a:uint (hash:"fnv1_32", cpp_type:"X"); }',
        (
            "struct S {a:int;} table T { a:S (native_inline); b:[S] (native_inline); c:[T] "
            "(native_inline);}"
        ),
        "table T { a:string (offset64); }",
        "table T { a:[ubyte] (offset64); b:[ubyte] (vector64); c:[int] (vector64); }",
        "struct S {a:int;} table T { a:[S] (vector64); b:[S] (offset64); }",
        "table T (original_order) { a:byte; b:int; }",
        "table T (private) { a:byte; }",
        "table T (csharp_partial) { a:byte; }",
        'table T (native_type:"X") { a:byte; }',
        'table T { a:[ubyte] (nested_flatbuffer:"T", flexbuffer); }',
        (
            'table T { a:long (hash:"fnv1a_64"); b:int (hash:"fnv1_32"); c:short '
            '(hash:"fnv1a_16"); d:[ulong] (hash:"fnv1_64"); }'
        ),
        'struct S { a:uint (hash:"fnv1_32"); }',
        'enum E:uint {A} table T { a:E (hash:"fnv1_32"); }',
        "table T { a:[ubyte] (offset64, vector64); }",
        'table T (native_custom_alloc:"X") {a:int;}',
        'table T { a:string (cpp_str_type:"X", cpp_str_flex_ctor); }',
        'table T { a:T (cpp_ptr_type:"X", cpp_ptr_type_get:"g"); }',
        'table T { a:int (native_default:"5"); }',
        'struct S (native_type:"X", native_type_pack_name:"P") {a:int;}',
        "struct S (private, native_inline) {a:int;}",
    ),
    "attributes as such": (
        "attribute foo; table T { a:int (foo); }",
        'attribute "foo"; table T { a:int (foo); }',
        'attribute "foo bar"; table T { a:int ("foo bar"); }',
        'attribute "foo"; table T { a:int ("foo": 5); }',
        'attribute "foo"; attribute "foo"; table T { a:int (foo: "x"); }',
        'attribute "required"; table T { a:int; }',
        "table T { a:int (deprecated: 1); }",
        'table T { a:int (key: "no"); }',
        "attribute x; table T (x: -3) {}",
        "attribute x; table T (x: 0x10) {}",
        'attribute "x" ; attribute y; table T (x, y) {}',
        "table T (deprecated, required, id: 3) {}",
        "enum E:byte (required) {A}",
        'table T { a:int (private, idempotent, bit_flags, original_order, streaming: "x"); }',
        'attribute x; enum E:byte { A (x), B (x: "y"), C (x: 3) }',
        "attribute x; rpc_service S (x) { M(T):T (x: 1); } table T {}",
    ),
    "names and namespaces": (
        "namespace A; table T { x: Foo; } namespace B; table Foo {}",
        "namespace A.B; table T { x: Foo; } namespace A; table Foo {}",
        "namespace A; table T { x: C.Foo; } namespace C; table Foo {}",
        "namespace A.B; table Foo {} namespace A; table T { x: B.Foo; y: A.B.Foo; }",
        "namespace A; namespace ; table T {}",
        "namespace A . B; table T {}",
        "namespace A; table T {} namespace B; table T {}",
        "table T {} namespace T; table X {}",
        "namespace namespace; table T {}",
        "namespace table; struct table {a:int;} table T { t:table; }",
        "namespace A; table T {} namespace A.B; table T { p:T; q:A.T; r:B.T; }",
        "namespace A; enum E:byte{X} namespace A.B; table T { e:E; }",
        "namespace A.B.C; table T {} namespace D; table U { t:A.B.C.T; }",
        "namespace A.B; table T {} namespace A.C; table U { t:B.T; }",
        "table T { a:A.B.T; } namespace A.B; table T {}",
        "namespace A; namespace A; table T {}",
    ),
    "unions": (
        "union U { A, B } table A {} table B {}",
        "union U { a:A, b:A } table A {}",
        "union U { A, b:A } table A {}",
        "union U { none:A } table A {}",
        "union U { }",
        "union U { A = 5, B } table A {} table B {}",
        "union U { B = 7, A = 3 } table A {} table B {}",
        "union U:int { A = 1000 } table A {}",
        "union U:byte { A=127 } table A {}",
        "union U:ubyte { A } union V { A } table A {} table T { u:U; v:[U]; }",
        "union U { s:string }",
        "union U { string:string }",
        "union U { s:S } struct S {a:int;}",
        "struct S {a:int;} union U { S }",
        "union U { ns.A } namespace ns; table A {}",
        "namespace ns; table A {} namespace; union U { ns.A }",
        "namespace ns; table A {} namespace; union U { x.y:ns.A }",
        "attribute foo; union U { A (foo: 1), B } table A {} table B {}",
        "attribute foo; union U { A = 3 (foo: 1), B } table A {} table B {}",
        "union U (private) { A } table A {}",
        "union U { A, } table A {}",
        "union U:int {} table T { u:U; }",
        "union U:ubyte {}",
        "union U { T (deprecated) } table T {}",
        "union U { T:T } table T {}",
        "union U { T = +1, R = 0x2 } table T {} table R {}",
        "union U { T = 5, R = 3, Q } table T {} table R {} table Q {}",
        "union U:ushort { T = 65535 } table T {}",
    ),
    "files": (
        "table T {} root_type T;",
        "namespace A; table T {} namespace; root_type A.T;",
        "namespace A; table T {} namespace B; root_type A.T;",
        'table T {} root_type T; file_identifier "ABCD"; file_extension "x";',
        r'file_identifier "AB\x43D";',
        'file_identifier "é12";',
        "file_identifier 'ABCD';",
        'file_extension "";',
        'native_include "x.h"; table T {}',
        'native_include "x.h"; include "other.fbs"; native_include "y.h"; table Q {}',
        "table T { root_type:T; } root_type T;",
        'include "rooted.fbs"; table T {}',
        'include "rooted.fbs"; table T {} root_type T;',
        'include "rooted.fbs"; root_type Rooted;',
        'include "other.fbs"; include "other.fbs"; table T { o:Other; }',
        'include "loop.fbs"; table T { o:Loop; }',
        'include "folder/inner.fbs"; table T { o:Other; s:inner.Shade; }',
        r'file_identifier "\x41\x42\x43\x44";',
    ),
    "services": (
        "rpc_service S { M(T):T; } table T {}",
        "table T {} rpc_service S { M(T):T; }",
        'table T {} rpc_service S { M(T):T (streaming: "bidi"); N(T):T (idempotent); }',
        'table T {} rpc_service S { M(T):T (streaming: "foo"); }',
        "table T {} rpc_service T { M(T):T; }",
        "rpc_service S { M(T):T; N(T):T; } rpc_service R { M(T):T; } table T {}",
        (
            "namespace A; table T {} rpc_service S { M(T):T; } namespace B; rpc_service S { "
            "M(A.T):A.T; }"
        ),
    ),
    "names of fields": (
        "table T{X:int;} table X{}",
        "namespace A; table X{} namespace B; table T{X:int;}",
        "enum X:int{A} table T{X:int;}",
    ),
    "comments and strings": (
        "/// doc\ntable T {\n /// good\n a:int;\n /// trailing\n }\n/// end",
        "/* c */ /// doc after comment\ntable T {}",
        "table T {} // c",
        "table T {} /* a /* b */",
        "table T { a:/* x */int/* y */=/* z */5; }",
        "table T { a:int; } // é",
        r'attribute "\uD83D\uDE00";',
        'attribute "\\n\\t\\r\\b\\f\\"\\\'\\\\\\/";',
        r'attribute "\xC3\xA9";',
        "attribute 'a\"b';",
        'attribute "a\'b";',
        "\ufefftable T {}",
        "table T {\r\n  a:int;\r\n}\r\n",
        "/// a\n\n/// b\ntable T {}",
        "///\ntable T {}",
        "/// a\n// b\n/// c\ntable T {}",
        "///a\n///   b   \nenum E:byte {\n /// m\n A }",
        "/// u\nunion U {\n /// m\n A } table A {}",
        "/// s\nrpc_service S {\n /// m\n M(T):T; } table T {}",
        "/** c */ table T {}",
        "/**/table T{}",
        "//\ntable T {}",
        "/*/ table T {} */ table U {}",
    ),
    "numbers and blanks": (
        (
            "table T{a:int=0x1F; b:int=0X1f; c:float=1.; d:float=.5; e:float=1.e3; "
            "f:float=.5e-3; g:float=1E+5; h:double=0x1.8p3; i:double=0X.8P-3;}"
        ),
        "table T{a:float=+.5; b:float=-.5; c:float=+1.;}",
        "table T { a : int ; b :[ int ] ; c: [ T ] ( deprecated ) ; }",
        "table T{a:N.X;} namespace N; table X{}",
        'namespace a; enum E:int{A} namespace a.b; table T{y:int="E.A";}',
        'union U{T} table T{y:int="U.T";}',
        'union U{T} table T{y:ubyte="U.NONE";}',
        "namespace A; enum X:int{V} namespace A.B; table X {} table T { f: X; }",
        "table T{a:float=1e-400;}",
        "table T{a:float=0x1P-2; b:float=0x.8p0; c:float=0x1.p0;}",
    ),
    "defaults in structs": (
        "struct S { a:bool=0; b:int=0x0; c:int=-0; d:int=00; }",
        "struct S { a:bool=false; }",
        'struct S { a:bool="false"; b:bool=+0; }',
        'struct S { a:int="0"; b:int="0x0"; c:float="0"; }',
        'enum E:byte {A,B} struct S { e:E=A; f:E="A"; g:E="0"; h:int="E.A"; }',
        "enum E:byte {A=1,B=0} struct S { e:E=B; }",
        "enum E:ubyte (bit_flags) {A,B} struct S { e:E; f:E=0; }",
    ),
}
