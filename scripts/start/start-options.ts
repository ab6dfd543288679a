/** What `npm start` is asked for on its command line and in its environment: pure. */
import { parseArgs } from 'node:util'

export interface StartOptions {
  withDemo: boolean
  /** Milliseconds until the second look. */
  recheckDelayMs: number
}

export type Wish = { kind: 'start'; options: StartOptions } | { kind: 'help' } | { kind: 'refused'; fault: string }

export const USAGE = `npm start                          the whole product, and a demo up to its first alert
npm start -- --no-demo             without the demo
RECHECK_DELAY_MS=5000 npm start    with the second look after 5 seconds instead of 60`

const RECHECK_DELAY_MS = 60_000
/** As in the reconciler's own settings; looked at here already, so that a slip costs no start of the whole stack. */
const MOST_RECHECK_DELAY_MS = 86_400_000

export function readStartOptions(args: readonly string[], env: NodeJS.ProcessEnv): Wish {
  const flags = readFlags(args)
  if (typeof flags === 'string') return { kind: 'refused', fault: flags }
  if (flags.help) return { kind: 'help' }
  const wanted = env.RECHECK_DELAY_MS || String(RECHECK_DELAY_MS)
  if (!/^\d+$/.test(wanted) || Number(wanted) > MOST_RECHECK_DELAY_MS) {
    const range = `whole milliseconds from 0 to ${MOST_RECHECK_DELAY_MS}`
    return { kind: 'refused', fault: `RECHECK_DELAY_MS is "${wanted}", but has to be ${range}` }
  }
  // `npm start --no-demo`, with the -- forgotten, comes as a setting of npm.
  const withDemo = !flags['no-demo'] && env.npm_config_demo !== ''
  return { kind: 'start', options: { withDemo, recheckDelayMs: Number(wanted) } }
}

function readFlags(args: readonly string[]): { 'no-demo'?: boolean; help?: boolean } | string {
  try {
    const options = { 'no-demo': { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const
    return parseArgs({ args: [...args], options }).values
  } catch (error) {
    return (error as Error).message
  }
}
