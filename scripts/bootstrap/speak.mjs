/** How the bootstrap talks to a person, before anything is installed. */

/** Everything that a bootstrap says itself goes to stderr: stdout belongs to the script. */
export const say = text => process.stderr.write(`${text}\n`)

/** Ends with a fault and its remedy. */
export function refuse(fault, remedy) {
  say(`\n✗ ${fault}\n\n${remedy.map(line => `    ${line}`).join('\n')}\n`)
  process.exit(1)
}

/** The seconds that pass: on a terminal on one line that changes, elsewhere now and then. */
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
