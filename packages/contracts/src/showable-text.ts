/**
 * Characters that show nothing and change what stands around them: controls, line separators, directions of writing, blanks
 * without width. The two joiners stay: scripts and emoji need them.
 */
const UNSHOWABLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu

/**
 * Text that others chose, e.g. an id, as a person can be shown it: a character that shows nothing, or turns the text around
 * it, stands as its code point, e.g. `<U+202E>`; line breaks and tabs are blanks. Escaping for the place where it is shown
 * comes after.
 */
export function showableText(text: string): string {
  return text.replace(/[\t\r\n]+/g, ' ').replace(UNSHOWABLE, character => {
    const code = character.codePointAt(0) ?? 0
    return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`
  })
}
