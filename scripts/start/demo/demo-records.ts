import { readFileSync, writeFileSync } from 'node:fs'

/** The resources of the demo's first run, for later runs. The API shows their secrets only once. */
export interface DemoRecord {
  project_id: string
  connection_id: string
  /** Signs the processor's events. */
  signing_secret: string
  channel_id: string
  /** Shared with the receiver: signs the deliveries. */
  channel_secret: string
  receiver_port: number
  processor_port: number
  /** A key of the stand-in card processor that may refund: the leaked one of the story. */
  processor_key: string
}

/** The record of an earlier run; undefined at the first run, and when the file is unreadable: the demo then starts anew. */
export function readDemoRecord(path: string): DemoRecord | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as DemoRecord
  } catch {
    return undefined
  }
}

/** Readable for its owner only. */
export function writeDemoRecord(path: string, record: DemoRecord): void {
  writeFileSync(path, `${JSON.stringify(record, undefined, 2)}\n`, { mode: 0o600 })
}
