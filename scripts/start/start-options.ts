/** Reads the command line and the environment of `npm start`: pure. */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

export interface StartOptions {
  withDemo: boolean
  /** Absolute path of the folder that holds everything this product stores. */
  dataDir: string
  /** Milliseconds until the second look. */
  recheckDelayMs: number
}

export type Wish = { kind: 'start'; options: StartOptions } | { kind: 'help' } | { kind: 'refused'; fault: string }

export const USAGE = `npm start                          the whole product, and a demo up to its first alert
npm start -- --no-demo             without the demo
npm start -- --data DIR            with everything stored in DIR instead of .backstop (for tests)
RECHECK_DELAY_MS=5000 npm start    with the second look after 5 seconds instead of 60`

const RECHECK_DELAY_MS = 60_000
/** The reconciler's own limit. It is checked here too, before the whole stack starts. */
const MOST_RECHECK_DELAY_MS = 86_400_000

/** @param defaultDataDir the data folder without `--data` */
export function readStartOptions(args: readonly string[], env: NodeJS.ProcessEnv, defaultDataDir: string): Wish {
  const flags = readFlags(args)
  if (typeof flags === 'string') return { kind: 'refused', fault: flags }
  if (flags.help) return { kind: 'help' }
  const wanted = env.RECHECK_DELAY_MS || String(RECHECK_DELAY_MS)
  if (!/^\d+$/.test(wanted) || Number(wanted) > MOST_RECHECK_DELAY_MS) {
    const range = `whole milliseconds from 0 to ${MOST_RECHECK_DELAY_MS}`
    return { kind: 'refused', fault: `RECHECK_DELAY_MS is "${wanted}", but must be ${range}` }
  }
  // `npm start --no-demo`, without the `--`, arrives as a setting of npm.
  const withDemo = !flags['no-demo'] && env.npm_config_demo !== ''
  const dataDir = resolve(flags.data ?? defaultDataDir)
  return { kind: 'start', options: { withDemo, dataDir, recheckDelayMs: Number(wanted) } }
}

function readFlags(args: readonly string[]): { 'no-demo'?: boolean; data?: string; help?: boolean } | string {
  try {
    const options = {
      'no-demo': { type: 'boolean' },
      data: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    } as const
    return parseArgs({ args: [...args], options }).values
  } catch (error) {
    return (error as Error).message
  }
}
