// A file, sent as the GraphQL multipart request specification says; the Fetch API is enough.

// --8<-- [start:upload]
const apiUrl = process.env.API_URL; // such as https://shop.example.com/graphql/

const UPDATE = `mutation UpdateAvatar($image: Upload!) {
  userAvatarUpdate(image: $image) {
    user { avatar(size: 128) { url alt } }
    errors { field message code }
  }
}`;

export async function updateAvatar(file, token) {
  const form = new FormData();
  form.append(
    'operations',
    JSON.stringify({ query: UPDATE, variables: { image: null } }),
  );
  form.append('map', JSON.stringify({ 0: ['variables.image'] }));
  form.append('0', file); // a File, such as input.files[0]
  const response = await fetch(apiUrl, {
    method: 'POST',
    // No Content-Type: fetch sets it for the form.
    headers: { Authorization: `Bearer ${token}` },
    body: form,
  });
  const { data } = await response.json();
  return data.userAvatarUpdate;
}
// --8<-- [end:upload]
