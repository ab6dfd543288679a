/** Reads the options of `npm start` from the command line and the environment. Pure. */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

interface StartOptions {
  withDemo: boolean
  /** True if the console may open in a browser by itself. */
  opensBrowser: boolean
  /** The absolute path of the folder with all stored data of the product. */
  dataDir: string
  /** Milliseconds until the second look. */
  recheckDelayMs: number
  /**
   * The prefix of topics and of the database's name. Tests set BACKSTOP_TEST_TOPIC_PREFIX to run several products on one Kafka and
   * MongoDB. KAFKA_TOPIC_PREFIX is ignored, because another product may have set it, and a new prefix hides the stored data.
   */
  topicPrefix: string
}

/** The parsed command line of `npm start`. */
export type StartCommand =
  | { kind: 'start'; options: StartOptions }
  | { kind: 'help' }
  | { kind: 'refused'; fault: string }

export const USAGE = `npm start                          the whole product, and a demo up to its first alert
npm start -- --no-demo             without the demo
npm start -- --no-open             without opening the console in a browser (also BROWSER=none)
npm start -- --data DIR            with everything stored in DIR instead of .backstop (for tests)
RECHECK_DELAY_MS=5000 npm start    with the second look after 5 seconds instead of 60`

const RECHECK_DELAY_MS = 60_000
/** The reconciler's limit. It is checked here too, so that an error is reported before the stack starts. */
const MOST_RECHECK_DELAY_MS = 86_400_000

/** Parses the command line. @param defaultDataDir the data folder without `--data` */
export function readStartOptions(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  defaultDataDir: string,
): StartCommand {
  const flags = readFlags(args)
  if (typeof flags === 'string') return { kind: 'refused', fault: flags }
  if (flags.help) return { kind: 'help' }
  const wanted = env.RECHECK_DELAY_MS || String(RECHECK_DELAY_MS)
  if (!/^\d+$/.test(wanted) || Number(wanted) > MOST_RECHECK_DELAY_MS) {
    const range = `whole milliseconds from 0 to ${MOST_RECHECK_DELAY_MS}`
    return { kind: 'refused', fault: `RECHECK_DELAY_MS is "${wanted}", but must be ${range}` }
  }
  // Without the `--`, `npm start --no-demo` sets the npm setting `demo` to an empty text.
  const withDemo = !flags['no-demo'] && env.npm_config_demo !== ''
  const opensBrowser = !flags['no-open'] && env.npm_config_open !== ''
  const dataDir = resolve(flags.data ?? defaultDataDir)
  const topicPrefix = env.BACKSTOP_TEST_TOPIC_PREFIX ?? ''
  return { kind: 'start', options: { withDemo, opensBrowser, dataDir, recheckDelayMs: Number(wanted), topicPrefix } }
}

function readFlags(
  args: readonly string[],
): { 'no-demo'?: boolean; 'no-open'?: boolean; data?: string; help?: boolean } | string {
  try {
    const options = {
      'no-demo': { type: 'boolean' },
      'no-open': { type: 'boolean' },
      data: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    } as const
    return parseArgs({ args: [...args], options }).values
  } catch (error) {
    return (error as Error).message
  }
}
