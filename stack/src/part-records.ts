import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makePrivateFolder } from './private-folder.ts'
import type { ProcessIdentity } from './process-identity.ts'
import type { PartName, PortName } from './stack-contract.ts'

/** The process of one part, recorded so that a later start can adopt or stop it. */
interface PartRecord extends ProcessIdentity {
  /** The path of the executable, for a person who reads the file. The process is identified by pid and start time. */
  program: string
  /** A hash of the command and its settings: a part with other settings is not adopted. */
  fingerprint: string
  /** The process that stops the part; null if the part must keep running. */
  owner: ProcessIdentity | null
}

/** The content of parts.json. Ports are kept when a part is stopped, so that it starts on the same ports again. */
export interface StackRecord {
  ports: Partial<Record<PortName, number>>
  parts: Partial<Record<PartName, PartRecord>>
  /** The Compose project, if the parts run in containers. */
  dockerProject?: string
}

/** The file parts.json of one data folder. */
export class StackRecordFile {
  readonly path: string

  constructor(dataDir: string) {
    this.path = join(dataDir, 'parts.json')
    makePrivateFolder(dataDir, existsSync(this.path))
  }

  /**
   * Returns an empty record if the file is missing or unreadable. The recorded parts are then found by their command
   * lines.
   */
  read(): StackRecord {
    try {
      const { ports, parts, dockerProject } = JSON.parse(readFileSync(this.path, 'utf8')) as Partial<StackRecord>
      return { ports: ports ?? {}, parts: parts ?? {}, ...(dockerProject ? { dockerProject } : {}) }
    } catch {
      return { ports: {}, parts: {} }
    }
  }

  /** Changes the record and replaces the file in one step, so that a reader never sees an incomplete file. */
  change(apply: (record: StackRecord) => void): void {
    const record = this.read()
    apply(record)
    const temporary = `${this.path}.${process.pid}`
    writeFileSync(temporary, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 })
    renameSync(temporary, this.path)
  }
}
