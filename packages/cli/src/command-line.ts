import { AppError, maskSecrets } from '@backstop/kit'
import { dryRunCommand } from './dry-run/command.ts'
import { explainCommand } from './explain/command.ts'
import { CommandFault, EXIT } from './fault.ts'
import { keysCommand } from './keys/command.ts'
import type { Surroundings } from './surroundings.ts'

const USAGE = `backstop explain <action_id> [--json]
    shows why an action has its verdict: the rule, the operations that do not explain it, and the timeline

backstop dry-run --from <time> [--to <time>] [--project <id>] [--connection <id>]
                 [--out-of-band alert|auto|ignore] [--recheck-delay <ms>] [--json]
    shows which verdicts today's rules or other settings would change; changes nothing
    <time> is 2026-11-21, 2026-11-21T10:00:00Z, or an age such as 30m, 24h, 7d

backstop keys recover [--no-expiry]
    creates a new admin key for all projects, valid for 90 days or without expiry, and prints it once;
    writes the key and an audit row

explain calls the management API: set BACKSTOP_URL and BACKSTOP_API_KEY. dry-run and keys recover open the database: set
MONGO_URL and MONGO_DB. Without these settings, they use the npm start that runs in this folder or one above it.
`

const COMMANDS: Readonly<Record<string, (args: readonly string[], surroundings: Surroundings) => Promise<void>>> = {
  explain: explainCommand,
  'dry-run': dryRunCommand,
  keys: keysCommand,
}

/** Runs a command line. @returns the exit code */
export async function runCommandLine(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const [name, ...rest] = args
  if (name === 'help' || args.some(one => one === '--help' || one === '-h')) {
    surroundings.out(USAGE)
    return EXIT.done
  }
  try {
    const command = COMMANDS[name ?? '']
    if (command === undefined) {
      throw new CommandFault('misused', name === undefined ? 'Name a command' : `There is no command ${name}`, USAGE)
    }
    await command(rest, surroundings)
    return EXIT.done
  } catch (error) {
    const fault = faultOf(error)
    surroundings.err(fault.remedy === '' ? `${fault.message}\n` : `${fault.message}\n\n${fault.remedy.trimEnd()}\n`)
    return EXIT[fault.exit]
  }
}

function faultOf(error: unknown): CommandFault {
  if (error instanceof CommandFault) return error
  if (error instanceof AppError && error.code === 'config_invalid') return new CommandFault('misused', error.message)
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return new CommandFault('failed', maskSecrets(text), '', error)
}
