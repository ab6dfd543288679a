/** Prints the demo: one line per fact, and on a terminal one more line below that changes. */

export interface StageStream {
  isTTY?: boolean
  /** 0 when the terminal does not report it. */
  columns?: number
  write(text: string): unknown
}

export interface Stage {
  /** Prints a new fact, with the time. */
  tell(word: string, text: string): void
  /** Prints text unchanged. */
  print(text: string): void
  /** Shows the changing line, or removes it. Without a terminal it is printed every 15 s. */
  live(text: string | undefined): void
}

const PLAIN_LIVE_EVERY_MS = 15_000
/** The column where the text of a fact begins, after the time and the word. */
const TEXT_COLUMN = 23
/** On a narrower terminal the indented text would be a column of single words. */
const NARROWEST_TO_WRAP = 60

export function createStage(stream: StageStream, now: () => number): Stage {
  let liveText: string | undefined
  let lastPlainAtMs = Number.NEGATIVE_INFINITY
  const erase = () => {
    if (stream.isTTY && liveText !== undefined) stream.write('\r\u001b[2K')
  }
  const draw = () => {
    if (stream.isTTY && liveText !== undefined)
      stream.write(liveText.slice(0, Math.max(20, (stream.columns || 80) - 1)))
  }
  const line = (text: string) => {
    erase()
    stream.write(`${text}\n`)
    draw()
  }
  const wrapped = (text: string) => {
    const columns = stream.columns || 80
    if (!stream.isTTY || columns < NARROWEST_TO_WRAP) return text
    return wrap(text, columns - TEXT_COLUMN).join(`\n${' '.repeat(TEXT_COLUMN)}`)
  }
  return {
    tell: (word, text) => line(`${clockTime(now())}  ${word.padEnd(TEXT_COLUMN - 11)} ${wrapped(text)}`),
    print: line,
    live(text) {
      erase()
      liveText = text
      draw()
      if (stream.isTTY || text === undefined || now() - lastPlainAtMs < PLAIN_LIVE_EVERY_MS) return
      lastPlainAtMs = now()
      stream.write(`${text}\n`)
    },
  }
}

/** The text in rows of at most `width` characters, broken between words; a longer word has a row of its own. */
function wrap(text: string, width: number): string[] {
  const rows: string[] = []
  for (const word of text.split(' ')) {
    const row = rows.at(-1)
    if (row === undefined || row.length + 1 + word.length > width) rows.push(word)
    else rows[rows.length - 1] = `${row} ${word}`
  }
  return rows
}

/** The local time of day, to the second. */
export function clockTime(ms: number): string {
  return new Date(ms).toTimeString().slice(0, 8)
}
