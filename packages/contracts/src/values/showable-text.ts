/**
 * Invisible characters that change how the text around them is shown: controls, line separators, text direction marks, zero-width spaces.
 * The two joiners are allowed, because scripts and emoji need them.
 */
const UNSAFE_CHARACTERS = /(?![\t\r\n]|\u200c|\u200d)[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu

/** Text without these characters, for names that people choose. */
export const SHOWABLE_TEXT = /^(?:[\u200c\u200d]|[^\p{Cc}\p{Cf}\p{Cs}\u2028\u2029])*$/u

/**
 * Makes foreign text, e.g. an id, safe to show to people. Invisible characters and characters that change the direction of text are
 * replaced with their code point, e.g. `<U+202E>`; line breaks and tabs become spaces. The caller must still escape the result, e.g. for
 * HTML.
 */
export function showableText(text: string): string {
  return showableLines(text.replace(/[\t\r\n]+/g, ' '))
}

/** The same for text of several lines: its line breaks and tabs are kept. */
export function showableLines(text: string): string {
  return text.replace(UNSAFE_CHARACTERS, character => {
    const code = character.codePointAt(0) ?? 0
    return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`
  })
}
