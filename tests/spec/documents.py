"""The documents that clients send, as the contract's part 1 writes the operations."""

LOGIN = """
mutation ($email: String!, $password: String!) {
  tokenCreate(email: $email, password: $password) {
    token refreshToken errors { field message code }
  }
}"""

REFRESH = """
mutation ($token: String!) {
  tokenRefresh(refreshToken: $token) { token errors { field message code } }
}"""

VERIFY = """
mutation ($token: String!) {
  tokenVerify(token: $token) { isValid errors { field code } }
}"""

DEACTIVATE_ALL = "mutation { tokensDeactivateAll { errors { field message code } } }"

ME = """
{
  me {
    id email firstName lastName isStaff avatar { url alt }
    userPermissions { code name } permissionGroups { name }
  }
}"""

CHANGE_PASSWORD = """
mutation ($old: String, $new: String!) {
  passwordChange(oldPassword: $old, newPassword: $new) {
    user { email } errors { field message code }
  }
}"""

SET_PASSWORD = """
mutation ($email: String!, $password: String!, $token: String!) {
  setPassword(email: $email, password: $password, token: $token) {
    token refreshToken user { email } errors { field message code }
  }
}"""

REQUEST_RESET = """
mutation ($email: String!, $redirectUrl: String!) {
  requestPasswordReset(email: $email, redirectUrl: $redirectUrl) {
    errors { field message code }
  }
}"""

ME_QUERY = "{ me { email } }"

SHOP = "{ shop { name passwordLoginMode allowStorefrontTraffic } }"

UPDATE_SHOP = """
mutation ($input: ShopSettingsInput!) {
  shopSettingsUpdate(input: $input) {
    shop { name passwordLoginMode allowStorefrontTraffic } errors { field code message }
  }
}"""
