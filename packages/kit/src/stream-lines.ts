import type { Readable } from 'node:stream'

/**
 * The lines of a stream of UTF-8 text, without their line ends. Text after the last line end was cut off, and is dropped. Only
 * \n ends a line: readline also splits at U+2028, which a JSON text may contain.
 */
export async function* streamLines(stream: Readable): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of stream.setEncoding('utf8')) {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}
