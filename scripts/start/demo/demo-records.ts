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

/**
 * The record of an earlier run. Undefined at the first run and if the file is unreadable; the demo then creates new resources.
 */
export function readDemoRecord(path: string): DemoRecord | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as DemoRecord
  } catch {
    return undefined
  }
}

/** Writes the record to a file that only its owner can read. */
export function writeDemoRecord(path: string, record: DemoRecord): void {
  writeFileSync(path, `${JSON.stringify(record, undefined, 2)}\n`, { mode: 0o600 })
}
