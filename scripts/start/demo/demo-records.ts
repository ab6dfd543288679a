import { readFileSync, writeFileSync } from 'node:fs'

/** The resources of the demo's first run. They are stored for later runs, because the API shows secrets only once. */
export interface DemoRecord {
  project_id: string
  connection_id: string
  /** The secret that signs the processor's events. */
  signing_secret: string
  channel_id: string
  /** The secret that signs the deliveries. The receiver has it too. */
  channel_secret: string
  receiver_port: number
  processor_port: number
  /** A key of the simulated card processor that may refund. In the demo it is the leaked key. */
  processor_key: string
}

/** Stores a record in a file that only its owner can read. */
export interface DemoRecords<Stored = DemoRecord> {
  /**
   * The record of an earlier run. Undefined at the first run, if the file is unreadable, and if the secret keys have changed,
   * because Backstop can then not decrypt the secret of the recorded connection. The demo then creates new resources.
   */
  read(): Stored | undefined
  write(record: Stored): void
}

/** @param secretsFingerprint identifies the secret keys that encrypt the secrets of the demo's resources */
export function createDemoRecords<Stored extends object = DemoRecord>(
  path: string,
  secretsFingerprint: string,
): DemoRecords<Stored> {
  return {
    read() {
      try {
        const stored = JSON.parse(readFileSync(path, 'utf8')) as Stored & { secrets_fingerprint?: string }
        return stored.secrets_fingerprint === secretsFingerprint ? stored : undefined
      } catch {
        return undefined
      }
    },
    write(record) {
      const stored = { ...record, secrets_fingerprint: secretsFingerprint }
      writeFileSync(path, `${JSON.stringify(stored, undefined, 2)}\n`, { mode: 0o600 })
    },
  }
}
