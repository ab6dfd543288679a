/**
 * Invisible characters that change the text around them: controls, line separators, directions of writing, blanks without
 * width. The two joiners are not among them: scripts and emoji need them.
 */
const UNSHOWABLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu

/**
 * Makes text from outside, e.g. an id, safe to show to people: invisible characters and characters that turn the text around
 * them become their code point, e.g. `<U+202E>`; line breaks and tabs become blanks. The caller still escapes it for HTML or
 * the like.
 */
export function showableText(text: string): string {
  return text.replace(/[\t\r\n]+/g, ' ').replace(UNSHOWABLE, character => {
    const code = character.codePointAt(0) ?? 0
    return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`
  })
}
