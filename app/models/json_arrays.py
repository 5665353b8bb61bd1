"""JSON made by the database: many rows as one value, in the words of SQLite and PostgreSQL."""

from typing import Any

from sqlalchemy import JSON, ColumnElement, ScalarSelect, Text, cast, literal_column
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import SQLColumnExpression
from sqlalchemy.sql.functions import FunctionElement

Value = SQLColumnExpression[Any]


class JsonArray(FunctionElement[object]):
    """The values of all rows as an array, empty for no rows."""

    name = "json_array"
    type = JSON()
    inherit_cache = True


class JsonObject(FunctionElement[object]):
    """An object with these members: name, value, name, value and so on."""

    name = "json_object"
    type = JSON()
    inherit_cache = True


def json_object(**members: Value) -> ColumnElement[object]:
    """Return an object of ``members``, whose names are written into the statement."""
    arguments: list[Value] = []
    for name, value in members.items():
        arguments += [literal_column(f"'{name}'"), value]
    return JsonObject(*arguments)


def json_array_text(value: Value) -> ColumnElement[str]:
    """Return the JSON text of an array of ``value`` in all rows: drivers give it unread."""
    return cast(JsonArray(value), Text)


@compiles(JsonArray, "sqlite")
def _array_on_sqlite(element: JsonArray, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_group_array({_values(element, compiler, options)})"


@compiles(JsonArray, "postgresql")
def _array_on_postgresql(element: JsonArray, compiler: SQLCompiler, **options: Any) -> str:
    return f"coalesce(json_agg({_values(element, compiler, options)}), '[]')"


@compiles(JsonObject, "sqlite")
def _object_on_sqlite(element: JsonObject, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_object({_values(element, compiler, options)})"


@compiles(JsonObject, "postgresql")
def _object_on_postgresql(element: JsonObject, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_build_object({_values(element, compiler, options)})"


def _values(element: FunctionElement[Any], compiler: SQLCompiler, options: dict[str, Any]) -> str:
    return ", ".join(_value(value, compiler, options) for value in element.clauses)


def _value(value: ColumnElement[Any], compiler: SQLCompiler, options: dict[str, Any]) -> str:
    text = compiler.process(value, **options)
    # SQLite takes JSON that comes from a subquery for text unless it is told otherwise.
    is_subquery = isinstance(value, ScalarSelect) and isinstance(value.type, JSON)
    return f"json({text})" if is_subquery and compiler.dialect.name == "sqlite" else text
