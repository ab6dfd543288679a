import { StackError } from '@backstop/stack'

/** An error that stops the start, with its remedy. */
export class StartFault extends Error {
  readonly remedy: string

  constructor(message: string, remedy: string) {
    super(message)
    this.name = 'StartFault'
    this.remedy = remedy
  }
}

/** A service could not start, because another process uses one of its ports. */
export class PortInUseFault extends StartFault {
  readonly port: number

  constructor(service: string, port: number) {
    super(
      `${service} could not start: port ${port} is in use by another process`,
      'Stop that process, then start again',
    )
    this.name = 'PortInUseFault'
    this.port = port
  }
}

const FOLDER_REMEDIES: Readonly<Record<string, string>> = {
  EACCES: 'Make it writable for you, or move the clone to where you may write',
  EPERM: 'Make it writable for you, or move the clone to where you may write',
  EROFS: 'Move the clone to a disk that is not read-only',
  ENOSPC: 'Free some space on that disk, or move the clone to another one',
  EEXIST: 'Put what lies there out of the way',
  ENOTDIR: 'Put what lies there out of the way',
}

/**
 * The message of an error for people, with the remedy if there is one. Without a stack trace, which does not help an operator.
 */
export function describeFault(error: unknown): string {
  if (!(error instanceof Error)) return `✗ ${String(error)}`
  const remedy = remedyOf(error)
  return remedy ? `✗ ${error.message}\n  → ${remedy}` : `✗ ${error.message}`
}

function remedyOf(error: Error): string | undefined {
  if (error instanceof StackError || error instanceof StartFault) return error.remedy
  return FOLDER_REMEDIES[(error as NodeJS.ErrnoException).code ?? '']
}
