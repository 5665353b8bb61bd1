"""A session at the API: sign in, query, refresh expired tokens."""

from typing import Any

import requests

SIGN_IN = """
mutation SignIn($email: String!, $password: String!) {
  tokenCreate(email: $email, password: $password) {
    token refreshToken errors { field message code }
  }
}"""
EXPIRED = "ExpiredSignatureError"
REFRESH = """
mutation Refresh($refreshToken: String!) {
  tokenRefresh(refreshToken: $refreshToken) {
    token refreshToken errors { field message code }
  }
}"""


class ApiSession:
    """A signed-in user's session."""

    def __init__(self, api_url: str, email: str, password: str) -> None:
        self._api_url = api_url  # such as https://shop.example.com/graphql/
        answer = self._post(SIGN_IN, {"email": email, "password": password})
        self._keep(answer["data"]["tokenCreate"])

    def query(self, document: str, **variables: object) -> Any:
        """Return the answer's data; refresh the access token if it has expired."""
        answer = self._post(document, variables, self.token)
        if _is_expired(answer):
            self.refresh()
            answer = self._post(document, variables, self.token)
        if "errors" in answer:
            raise RuntimeError(answer["errors"][0]["message"])
        return answer["data"]

    def refresh(self) -> None:
        """Get a new access token."""
        answer = self._post(REFRESH, {"refreshToken": self.refresh_token})
        self._keep(answer["data"]["tokenRefresh"])

    def _post(self, query: str, variables: dict[str, object], token: str = "") -> Any:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        body = {"query": query, "variables": variables}
        response = requests.post(self._api_url, json=body, headers=headers, timeout=180)
        return response.json()

    def _keep(self, payload: Any) -> None:
        if payload["errors"]:
            raise PermissionError(payload["errors"][0]["message"])
        self.token: str = payload["token"]
        if payload["refreshToken"]:  # after a refresh: if they are single use
            self.refresh_token: str = payload["refreshToken"]


def _is_expired(answer: Any) -> bool:
    errors = answer.get("errors", [])
    return any(one["extensions"]["exception"]["code"] == EXPIRED for one in errors)
