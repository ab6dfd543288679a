/** How a command ends; docs/explaining.md lists them. */
export const EXIT = {
  done: 0,
  failed: 1,
  misused: 2,
  not_found: 3,
  refused: 4,
  nothing_there: 5,
} as const

/** Why a command cannot do what it was asked for, and what helps. */
export class CommandFault extends Error {
  readonly exit: Exclude<keyof typeof EXIT, 'done'>
  /** Empty when the message says it all. */
  readonly remedy: string

  constructor(exit: CommandFault['exit'], message: string, remedy = '', cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'CommandFault'
    this.exit = exit
    this.remedy = remedy
  }
}
