"""The table of shop settings agrees with the records, the API and the command line."""

from dataclasses import fields
from typing import Any

import pytest
from graphql import GraphQLInputObjectType, GraphQLObjectType
from sqlalchemy import String

from app import models
from app.domain.shop.setting_table import SETTINGS, Setting
from app.domain.shop.settings import DERIVED, ShopSettings, ShopUpdate
from app.graphql.schema import schema
from tests.fixtures.cases import cases

NAMES = {setting.name for setting in SETTINGS}


def test_each_setting_is_declared_once() -> None:
    assert len(NAMES) == len(SETTINGS)


def test_values_have_exactly_the_declared_settings() -> None:
    assert {field.name for field in fields(ShopSettings)} - DERIVED == NAMES


@cases("name", ["support_phone", *sorted(DERIVED)])
def test_update_can_name_nothing_else(name: str) -> None:
    values: dict[str, Any] = {name: ""}
    with pytest.raises(TypeError, match=name):
        ShopUpdate(**values)


@cases("setting", SETTINGS)
def test_column_holds_the_longest_allowed_text(setting: Setting) -> None:
    column = models.Shop.__table__.c[setting.name]
    if setting.kind.is_text and isinstance(column.type, String) and column.type.length:
        assert column.type.length == setting.max_length


@cases("setting", SETTINGS)
def test_every_setting_can_be_read_and_changed_over_the_api(setting: Setting) -> None:
    shown = schema.graphql_schema.type_map["Shop"]
    input_type = schema.graphql_schema.type_map["ShopSettingsInput"]
    assert isinstance(shown, GraphQLObjectType)
    assert isinstance(input_type, GraphQLInputObjectType)
    assert setting.api_name in shown.fields
    assert setting.api_name in input_type.fields
