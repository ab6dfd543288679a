import { ApiProblem, NoAnswer } from '@backstop/client'
import { AppError } from '@backstop/kit/errors'
import { maskSecrets } from '@backstop/kit/logger'
import { CommanderError } from 'commander'

/** The exit codes of commands; docs/cli.md lists them. */
export const EXIT = {
  done: 0,
  failed: 1,
  misused: 2,
  not_found: 3,
  refused: 4,
  nothing_there: 5,
} as const

/** The failure of a command, with its remedy. */
export class CommandFault extends Error {
  readonly exit: Exclude<keyof typeof EXIT, 'done'>
  /** Empty if the message already says what to do. */
  readonly remedy: string

  constructor(exit: CommandFault['exit'], message: string, remedy = '', cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'CommandFault'
    this.exit = exit
    this.remedy = remedy
  }
}

/** The failure of a command by the error that ended it. */
export function faultOf(error: unknown): CommandFault {
  if (error instanceof CommandFault) return error
  if (error instanceof CommanderError) {
    const message = error.message.replace(/^error: /, '')
    const text = `${message.charAt(0).toUpperCase()}${message.slice(1)}`
    return new CommandFault('misused', text, 'backstop <command> --help  shows its options', error)
  }
  if (error instanceof ApiProblem) return faultOfProblem(error)
  if (error instanceof NoAnswer) {
    const remedy = 'Check that it runs, and that BACKSTOP_URL, if set, has the address of its management API'
    return new CommandFault(
      'nothing_there',
      error.message.replace('No answer from', 'Nothing answers at'),
      remedy,
      error,
    )
  }
  if (error instanceof AppError && error.code === 'config_invalid') return new CommandFault('misused', error.message)
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return new CommandFault('failed', maskSecrets(text), '', error)
}

function faultOfProblem(problem: ApiProblem): CommandFault {
  const fields = problem.errors.map(({ path, message }) => `  ${path}: ${message}`)
  const detail = [problem.detail, ...fields].join('\n')
  switch (problem.status) {
    case 401:
      return new CommandFault('refused', `The key was refused: ${detail}`, 'Check BACKSTOP_API_KEY, or log in again')
    case 403:
      return new CommandFault('refused', `The key was refused: ${detail}`, 'Use a key with the scope that is named')
    case 404:
      return new CommandFault('not_found', detail, 'A key that is bound to a project sees only that project')
    case 400:
    case 422:
      return new CommandFault('misused', detail)
    default:
      return new CommandFault('failed', detail, problem.request_id === undefined ? '' : `Request ${problem.request_id}`)
  }
}
