import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProcessIdentity } from './process-identity.ts'
import type { PartName, PortName } from './stack-contract.ts'

/** The process of one part, for a later start to adopt or stop. */
export interface PartRecord extends ProcessIdentity {
  /** Path of the executable: for a person reading the file. Identity is pid and start time. */
  program: string
  /** Hash of the command and the settings it was started with: a part of other settings is not adopted. */
  fingerprint: string
  /** The process that stops it; null for a part that is to stay up. */
  owner: ProcessIdentity | null
}

/** Content of parts.json. Ports stay when a part is stopped, so that it comes back where its clients look for it. */
export interface StackRecord {
  ports: Partial<Record<PortName, number>>
  parts: Partial<Record<PartName, PartRecord>>
  /** Compose project, when the parts run in containers. */
  dockerProject?: string
}

/** parts.json of one data folder. */
export class StackRecordFile {
  readonly path: string

  constructor(dataDir: string) {
    this.path = join(dataDir, 'parts.json')
    mkdirSync(dataDir, { recursive: true })
  }

  /** A missing or unreadable file reads as an empty record: parts it named are then found by their command lines. */
  read(): StackRecord {
    try {
      const { ports, parts, dockerProject } = JSON.parse(readFileSync(this.path, 'utf8')) as Partial<StackRecord>
      return { ports: ports ?? {}, parts: parts ?? {}, ...(dockerProject ? { dockerProject } : {}) }
    } catch {
      return { ports: {}, parts: {} }
    }
  }

  /** Changes the record and replaces the file in one step, so that a reader never sees half of it. */
  change(apply: (record: StackRecord) => void): void {
    const record = this.read()
    apply(record)
    const temporary = `${this.path}.${process.pid}`
    writeFileSync(temporary, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 })
    renameSync(temporary, this.path)
  }
}
