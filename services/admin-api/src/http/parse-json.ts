import { AppError } from '@backstop/kit/errors'

const SPACE = /[ \t\n\r]*/y
/** Any characters of a string except quotes, backslashes and control characters. */
const STRING_PART = /[ !#-[\]-\uffff]*/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
const NUMBER_OR_WORD = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/** @throws AppError `malformed_json` that says where the fault is and quotes none of the text */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    const at = invalidJsonIndex(text) ?? 0
    const before = text.slice(0, at)
    const place = `line ${before.split('\n').length}, column ${at - before.lastIndexOf('\n')}`
    const fault = at === text.length ? 'it ends too early, at' : 'unexpected character at'
    throw new AppError('malformed_json', `The body is not valid JSON: ${fault} ${place}`)
  }
}

/**
 * Index of the first character that is not valid JSON: the length if the text ends too early, undefined if it is valid. JSON.parse names
 * the position of only some faults and quotes the text, which may hold a secret. The parser keeps its own stack, because a body may be
 * nested deeper than the call stack allows.
 */
export function invalidJsonIndex(text: string): number | undefined {
  let at = 0
  function match(pattern: RegExp): boolean {
    pattern.lastIndex = at
    const isMatch = pattern.test(text)
    if (isMatch) at = pattern.lastIndex
    return isMatch
  }
  function nextIs(char: string): boolean {
    match(SPACE)
    return text[at] === char
  }
  function skip(char: string): boolean {
    const isNext = nextIs(char)
    if (isNext) at++
    return isNext
  }
  function skipString(): boolean {
    if (!skip('"')) return false
    do match(STRING_PART)
    while (match(ESCAPE))
    const isClosed = text[at] === '"'
    if (isClosed) at++
    return isClosed
  }
  const skipName = () => skipString() && skip(':')

  const closing: ('}' | ']')[] = []
  for (;;) {
    // A value begins. If it is an object or a list, the next rounds of the loop read its content.
    if (skip('{')) {
      if (!skip('}')) {
        if (!skipName()) return at
        closing.push('}')
        continue
      }
    } else if (skip('[')) {
      if (!skip(']')) {
        closing.push(']')
        continue
      }
    } else if (nextIs('"') ? !skipString() : !match(NUMBER_OR_WORD)) return at
    // A value ended.
    while (!skip(',')) {
      const close = closing.pop()
      if (close === undefined) return at === text.length ? undefined : at
      if (!skip(close)) return at
    }
    if (closing.length === 0) return at - 1
    if (closing.at(-1) === '}' && !skipName()) return at
  }
}
