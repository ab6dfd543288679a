import { isLoopback } from './rules/same-origin.ts'

/**
 * The cookies of browsers. They are Secure and bound to the exact host (`__Host-`), except on loopback, where browsers differ about
 * Secure cookies without TLS. A cookie without the prefix is accepted from loopback only, because an attacker in the network could set
 * one for any other host.
 */

/** The cookies of this API. */
export type CookieName = 'session' | 'sign_in'

/** `host_bound`: Secure and with the prefix `__Host-`. `plain`: neither. */
export type CookieForm = 'host_bound' | 'plain'

/**
 * Decides the form by the Host header and by the public URL of the installation, because a proxy may replace the header by a loopback
 * address.
 * @param publicUrl a loopback address if the installation has none
 */
export function decideCookieForm(host: string | undefined, publicUrl: string): CookieForm {
  return isLoopback(host) && isLoopback(URL.parse(publicUrl)?.host) ? 'plain' : 'host_bound'
}

function fullName(name: CookieName, form: CookieForm): string {
  return form === 'plain' ? `backstop_${name}` : `__Host-backstop_${name}`
}

/** Returns the value of a cookie. If it is sent several times, none counts. */
export function readCookie(header: string | undefined, name: CookieName, form: CookieForm): string | undefined {
  if (header === undefined) return undefined
  const prefix = `${fullName(name, form)}=`
  const [only, ...others] = header
    .split(';')
    .map(part => part.trim())
    .filter(part => part.startsWith(prefix))
  return others.length > 0 ? undefined : only?.slice(prefix.length)
}

/** The value of a Set-Cookie header. @param maxAgeMs 0 removes the cookie */
export function writeCookie(name: CookieName, value: string, form: CookieForm, maxAgeMs: number): string {
  const secure = form === 'plain' ? '' : '; Secure'
  const maxAge = Math.floor(maxAgeMs / 1_000)
  // Lax and not Strict, because the OpenID Connect provider leads the browser back here from another site.
  return `${fullName(name, form)}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAge}${secure}`
}
