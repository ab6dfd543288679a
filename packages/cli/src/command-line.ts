import { Command, CommanderError } from 'commander'
import packageJson from '../package.json' with { type: 'json' }
import { addActors } from './actors/command.ts'
import { addArchive } from './archive/command.ts'
import { addAudit } from './audit/command.ts'
import { addBackup } from './backup/command.ts'
import { addChannels } from './channels/command.ts'
import { addCompleteness } from './completeness/command.ts'
import { addCompletion } from './completion/command.ts'
import { addConnections } from './connections/command.ts'
import { addDoctor } from './doctor/command.ts'
import { addDryRun } from './dry-run/command.ts'
import { addErasePerson } from './erase-person/command.ts'
import { EXIT, faultOf } from './exit-code.ts'
import { addExplain } from './explain/command.ts'
import { addIncidents } from './incidents/command.ts'
import { addKeys } from './keys/command.ts'
import { addLogin } from './login/command.ts'
import { addPeople } from './people/command.ts'
import { addProjects } from './projects/command.ts'
import { addReplay } from './replay/command.ts'
import { addReport } from './report/command.ts'
import { addSearch } from './search/command.ts'
import { addSecrets } from './secrets/command.ts'
import { addStats } from './stats/command.ts'
import type { Surroundings } from './surroundings.ts'
import { addTail } from './tail/command.ts'
import { addTrigger } from './trigger/command.ts'

const ABOUT = `
Commands use, in this order: BACKSTOP_URL and BACKSTOP_API_KEY; the npm start that runs in this folder or one above it; the
address of backstop login. keys recover, backup verify and parts of doctor open the database: set MONGO_URL and MONGO_DB.

Exit codes: 0 done, 1 failed, 2 wrong arguments, 3 not found, 4 the key was refused, 5 Backstop does not answer.`

/** The tree of all commands. */
export function createProgram(surroundings: Surroundings): Command {
  const program = new Command('backstop')
    .description('Finds and explains refunds and cancellations that nothing explains.')
    .version(packageJson.version)
    .addHelpText('after', ABOUT)
    .exitOverride()
    .configureOutput({ writeOut: surroundings.out, writeErr: () => {} })
  const parts = [
    addDoctor,
    addLogin,
    addProjects,
    addConnections,
    addChannels,
    addIncidents,
    addActors,
    addSearch,
    addStats,
    addCompleteness,
    addTail,
    addTrigger,
    addReplay,
    addReport,
    addExplain,
    addDryRun,
    addKeys,
    addPeople,
    addErasePerson,
    addArchive,
    addSecrets,
    addAudit,
    addBackup,
    addCompletion,
  ]
  for (const add of parts) add(program, surroundings)
  return program
}

/** Runs a command line. @returns the exit code */
export async function runCommandLine(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const program = createProgram(surroundings)
  try {
    await program.parseAsync([...args], { from: 'user' })
    return EXIT.done
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.done
    if (error instanceof CommanderError && error.code === 'commander.help') {
      surroundings.err(`Name a command\n\n${groupOf(program, args).helpInformation()}`)
      return EXIT.misused
    }
    const fault = faultOf(error)
    surroundings.err(fault.remedy === '' ? `${fault.message}\n` : `${fault.message}\n\n${fault.remedy.trimEnd()}\n`)
    return EXIT[fault.exit]
  }
}

/** The command that the arguments name, as far as they do. */
function groupOf(program: Command, args: readonly string[]): Command {
  const [name, ...rest] = args
  const found = program.commands.find(command => command.name() === name)
  return found === undefined ? program : groupOf(found, rest)
}
