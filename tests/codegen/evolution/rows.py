"""All changes of the table, by number."""

from __future__ import annotations

from tests.codegen.evolution.rows_of_attributes import ATTRIBUTES, STRUCTS
from tests.codegen.evolution.rows_of_fields import TABLES
from tests.codegen.evolution.rows_of_types import ENUMS, SCHEMAS, TYPES, UNIONS

ROWS = (*TABLES, *ATTRIBUTES, *STRUCTS, *TYPES, *ENUMS, *UNIONS, *SCHEMAS)
NUMBERS = range(1, 90)
