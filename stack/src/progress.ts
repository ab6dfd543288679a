/** Where a long start tells what it is doing. Steps may overlap: each name has its own line. */
export interface ProgressSink {
  step(name: string): ProgressStep
}

/** One thing being done. After `done` or `fail` it says nothing more. */
export interface ProgressStep {
  update(text: string): void
  done(text: string): void
  /** @param remedy what the reader can do about it; may be empty */
  fail(text: string, remedy: string): void
}

/** The part of a stream a sink writes to (process.stderr, or a stand-in in a test). */
export interface ProgressStream {
  isTTY?: boolean
  columns?: number
  write(text: string): unknown
}

/** Says nothing: for callers that show progress in their own way. */
export const silentProgress: ProgressSink = {
  step: () => ({ update: () => {}, done: () => {}, fail: () => {} }),
}

/** Live lines on a terminal, one plain line per change anywhere else (logs, pipes, CI). */
export function progressOn(stream: ProgressStream, now: () => number = Date.now): ProgressSink {
  return stream.isTTY ? terminalProgress(stream, now) : plainProgress(stream, now)
}

function plainProgress(stream: ProgressStream, now: () => number): ProgressSink {
  return {
    step(name) {
      const startedAt = now()
      let last = ''
      const say = (mark: string, text: string) => {
        // Percentages tick many times a second: a log wants the change of what is done, not of how much.
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
    // A step that has said nothing yet has not begun.
    const begun = live.filter(line => line.text !== '')
    for (const line of begun) stream.write(`${`… ${line.name}: ${line.text}`.slice(0, width)}\n`)
    drawn = begun.length
  }
  const settle = (line: { name: string; text: string }, final: string) => {
    clear()
    const at = live.indexOf(line)
    if (at >= 0) live.splice(at, 1)
    stream.write(`${final}\n`)
    draw()
  }
  return {
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
        done: text => settle(line, `✓ ${name}: ${text} (${seconds(now() - startedAt)})`),
        fail: (text, remedy) => settle(line, remedy ? `✗ ${name}: ${text}\n  → ${remedy}` : `✗ ${name}: ${text}`),
      }
    },
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
