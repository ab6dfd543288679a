/** Shows the progress of a long start. Steps may overlap: each name has its own line. */
export interface ProgressSink {
  step(name: string): ProgressStep
  /** Prints permanent text above the steps in progress. */
  print(text: string): void
}

/** One step. After `done` or `fail` it prints nothing more. */
export interface ProgressStep {
  update(text: string): void
  done(text: string): void
  /** @param remedy in the imperative; may be empty */
  fail(text: string, remedy: string): void
}

/** The members of a stream that a sink uses. */
export interface ProgressStream {
  isTTY?: boolean
  columns?: number
  write(text: string): unknown
}

/** Shows nothing, for callers that show progress in their own way. */
export const silentProgress: ProgressSink = {
  print: () => {},
  step: () => ({ update: () => {}, done: () => {}, fail: () => {} }),
}

/** Live lines on a terminal; elsewhere (logs, pipes, CI) one plain line per change. */
export function progressOn(stream: ProgressStream, now: () => number = Date.now): ProgressSink {
  return stream.isTTY ? terminalProgress(stream, now) : plainProgress(stream, now)
}

function plainProgress(stream: ProgressStream, now: () => number): ProgressSink {
  return {
    print: text => void stream.write(`${text}\n`),
    step(name) {
      const startedAt = now()
      let last = ''
      const say = (mark: string, text: string) => {
        // Percentages change many times a second, and a log needs only the steps, so digits are ignored.
        const shape = text.replace(/\d+/g, '#')
        if (mark === '·' && shape === last) return
        last = shape
        stream.write(`${mark} ${name}: ${text}\n`)
      }
      return {
        update: text => say('·', text),
        done: text => say('✓', `${text} (${seconds(now() - startedAt)})`),
        fail: (text, remedy) => say('✗', remedy ? `${text}\n  → ${remedy}` : text),
      }
    },
  }
}

function terminalProgress(stream: ProgressStream, now: () => number): ProgressSink {
  const live: { name: string; text: string }[] = []
  let drawn = 0
  const clear = () => {
    if (drawn > 0) stream.write(`\u001b[${drawn}A\u001b[J`)
    drawn = 0
  }
  const draw = () => {
    const width = Math.max(20, (stream.columns ?? 80) - 1)
    // A step without a text has not started.
    const begun = live.filter(line => line.text !== '')
    for (const line of begun) stream.write(`${`… ${line.name}: ${line.text}`.slice(0, width)}\n`)
    drawn = begun.length
  }
  const print = (text: string) => {
    clear()
    stream.write(`${text}\n`)
    draw()
  }
  const finish = (line: { name: string; text: string }, final: string) => {
    const at = live.indexOf(line)
    if (at >= 0) live.splice(at, 1)
    print(final)
  }
  return {
    print,
    step(name) {
      const startedAt = now()
      const line = { name, text: '' }
      live.push(line)
      return {
        update(text) {
          if (text === line.text || !live.includes(line)) return
          line.text = text
          clear()
          draw()
        },
        done: text => finish(line, `✓ ${name}: ${text} (${seconds(now() - startedAt)})`),
        fail: (text, remedy) => finish(line, remedy ? `✗ ${name}: ${text}\n  → ${remedy}` : `✗ ${name}: ${text}`),
      }
    },
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
