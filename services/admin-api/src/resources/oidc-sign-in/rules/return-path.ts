/** Long enough for the address of any page of the console. It is kept in a cookie, so it is limited. */
const MAX_LENGTH = 512
const PLAIN = /^\/[\x21-\x7e]*$/

/** True if a browser that is redirected to the text stays on this host. Browsers read `//x` and `/\x` as another host. */
export function isLocalPath(text: string): boolean {
  if (text.length > MAX_LENGTH || !PLAIN.test(text) || text.includes('\\') || text.startsWith('//')) return false
  return URL.parse(text, 'https://this-host.invalid')?.origin === 'https://this-host.invalid'
}
