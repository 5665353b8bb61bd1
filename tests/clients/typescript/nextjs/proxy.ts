import { type NextRequest, NextResponse } from 'next/server';

import { ACCESS, cookieFor, isFresh, query, REFRESH } from './lib/shop';

const REFRESH_TOKEN = `mutation Refresh($refreshToken: String!) {
  tokenRefresh(refreshToken: $refreshToken) {
    token refreshToken errors { code }
  }
}`;

export async function proxy(request: NextRequest) {
  const stored = request.cookies.get(REFRESH)?.value;
  if (!stored || isFresh(request.cookies.get(ACCESS)?.value))
    return NextResponse.next();

  const { data } = await query(REFRESH_TOKEN, { refreshToken: stored });
  if (!data) return NextResponse.next(); // the storefront is closed for now
  const { token, refreshToken, errors } = data.tokenRefresh;
  const change = (cookies: NextRequest['cookies'] | NextResponse['cookies']) => {
    if (errors.length > 0) {
      cookies.delete(ACCESS); // the session has ended
      cookies.delete(REFRESH);
      return;
    }
    cookies.set(cookieFor(ACCESS, token));
    // There is a new refresh token if the shop's are single use.
    if (refreshToken) cookies.set(cookieFor(REFRESH, refreshToken));
  };

  change(request.cookies); // for the page that is rendered now
  const response = NextResponse.next({ request });
  change(response.cookies); // for the browser
  return response;
}

export const config = { matcher: '/((?!_next/|favicon.ico).*)' };
