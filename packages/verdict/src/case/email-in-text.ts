/** Finds an e-mail address. Addresses to look for are in lower case. */

const URL_START = /^(?:[a-z][a-z0-9+.-]*:\/\/|mailto:)/i

/** True if the text is the address, or a URL that contains it. */
export function isAddressIn(text: string, email: string): boolean {
  return isAddress(text, email) || isAddressInUrl(text, email)
}

export function isAddress(text: string, email: string): boolean {
  return text.trim().toLowerCase() === email
}

export function isAddressInUrl(text: string, email: string): boolean {
  return URL_START.test(text.trim()) && isAddressInText(text, email)
}

/** True if any text contains the address and no longer one. The text may have percent codes, and be part of another URL. */
export function isAddressInText(text: string, email: string): boolean {
  const once = withoutPercentCodes(text)
  const pattern = addressPattern(email)
  return [text, once, withoutPercentCodes(once)].some(decoded => pattern.test(decoded))
}

/** Characters of addresses, without `#`, `&`, `/`, `=` and `?`, which separate the parts of a URL. */
const BEFORE = "[\\p{L}\\p{N}.!$%'*+^_`{|}~-]"

/** `ann@shop.example` is not in `joann@shop.example`, `o'ann@shop.example` or `ann@shop.example.org`. */
function addressPattern(email: string): RegExp {
  const literal = email.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  return new RegExp(`(?<!${BEFORE})${literal}(?![\\p{L}\\p{N}-]|\\.[\\p{L}\\p{N}])`, 'iu')
}

function withoutPercentCodes(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, codes => {
    try {
      return decodeURIComponent(codes)
    } catch {
      return codes
    }
  })
}
