/** Prints the messages of the bootstrap without dependencies. */

/** Writes a message to stderr. Only the script writes to stdout. */
export const say = text => process.stderr.write(`${text}\n`)

/** Exits with an error and its remedy. */
export function refuse(fault, remedy) {
  say(`\n✗ ${fault}\n\n${remedy.map(line => `    ${line}`).join('\n')}\n`)
  process.exit(1)
}

/** Shows the elapsed seconds: on a terminal in one line, elsewhere every few seconds. */
export function showSeconds(label) {
  const startedAt = Date.now()
  const seconds = () => Math.round((Date.now() - startedAt) / 1000)
  const live = process.stderr.isTTY
  if (!live) say(`… ${label}`)
  const show = () =>
    process.stderr.write(live ? `\r\u001b[2K… ${label}: ${seconds()} s` : `… ${label}: ${seconds()} s\n`)
  const ticker = setInterval(show, live ? 500 : 15_000)
  return {
    end(done) {
      clearInterval(ticker)
      if (live) process.stderr.write('\r\u001b[2K')
      if (done) say(`✓ ${label} (${seconds()} s)`)
    },
  }
}
