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
