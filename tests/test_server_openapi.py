"""The server asked what its own OpenAPI document allows, and some of what it does not, as schemathesis draws it."""

from __future__ import annotations

import json
import re

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

from serving import Client


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.name.lower())
def test_every_route_keeps_its_word(client: Client, mode: GenerationMode) -> None:
    """No status and no shape that the document does not tell of, and never a fault of ours.

    What a JSON schema cannot say, such as that spans fit their text, may be refused all the same.
    """
    document = schemathesis.openapi.from_url(f"http://127.0.0.1:{client.port}/openapi.json")
    drawn = []
    for found in document.get_all_operations():
        operation = found.ok()
        if mode is GenerationMode.NEGATIVE and not operation.body and not operation.query:
            continue  # there is nothing to get wrong

        @settings(max_examples=20, phases=[Phase.generate], suppress_health_check=list(HealthCheck), deadline=None)
        @given(case=operation.as_strategy(generation_mode=mode))
        def ask(case: schemathesis.Case) -> None:
            answer = case.call_and_validate(excluded_checks=[positive_data_acceptance])
            drawn.append((case.path, answer.status_code))

        ask()
    assert {path for path, _ in drawn} >= {"/link", "/explain", "/search", "/reconcile", "/nif", "/rel"}
    assert {status for _, status in drawn} & {200 if mode is GenerationMode.POSITIVE else 422}
    assert client.get("/health").status == 200


def test_every_reference_of_the_document_leads_to_a_schema(client: Client) -> None:
    document = client.get("/openapi.json").json
    referred = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(document)))
    assert referred
    assert referred <= document["components"]["schemas"].keys()
