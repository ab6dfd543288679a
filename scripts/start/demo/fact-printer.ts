/** Prints facts one below the other. On a terminal a status line below them changes in place. */

export interface OutputStream {
  isTTY?: boolean
  /** The width of the terminal; 0 if the terminal does not report it. */
  columns?: number
  write(text: string): unknown
}

export interface FactPrinter {
  /** Prints a fact with the time. @param word a short title, e.g. `refund` */
  fact(word: string, text: string): void
  /** Prints text unchanged. */
  print(text: string): void
  /** Shows the status line, or removes it. Without a terminal it is printed every 15 s at most. */
  status(text: string | undefined): void
}

const PLAIN_STATUS_EVERY_MS = 15_000
/** The column where the text of a fact begins, after the time and the word. */
const TEXT_COLUMN = 23
/** Text is not wrapped on a narrower terminal, because the indented column would have one word in each row. */
const NARROWEST_TO_WRAP = 60

export function createFactPrinter(stream: OutputStream, now: () => number): FactPrinter {
  let statusText: string | undefined
  let lastPlainAtMs = Number.NEGATIVE_INFINITY
  const erase = () => {
    if (stream.isTTY && statusText !== undefined) stream.write('\r\u001b[2K')
  }
  const draw = () => {
    if (stream.isTTY && statusText !== undefined)
      stream.write(statusText.slice(0, Math.max(20, (stream.columns || 80) - 1)))
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
    fact: (word, text) => line(`${clockTime(now())}  ${word.padEnd(TEXT_COLUMN - 11)} ${wrapped(text)}`),
    print: line,
    status(text) {
      erase()
      statusText = text
      draw()
      if (stream.isTTY || text === undefined || now() - lastPlainAtMs < PLAIN_STATUS_EVERY_MS) return
      lastPlainAtMs = now()
      stream.write(`${text}\n`)
    },
  }
}

/** Breaks a text between words into rows of at most `width` characters. A longer word gets its own row. */
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
function clockTime(ms: number): string {
  return new Date(ms).toTimeString().slice(0, 8)
}
