import type { AuditVerification } from '@backstop/client'
import { Button, Group } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { api, useWrite } from '../../api/client.ts'
import { Problem } from '../../parts/page/index.ts'
import { Badge } from '../../parts/show/index.ts'

const NONE = { verified: 0, total: 0 }

/** Verifies the hash chain of the audit, from the newest row to the oldest, and shows the progress. */
export function VerifyChain() {
  const [{ verified, total }, setProgress] = useState(NONE)
  const leaves = useRef(new AbortController())
  useEffect(() => {
    leaves.current = new AbortController()
    return () => leaves.current.abort()
  }, [])
  const { data, error, isPending, mutate } = useWrite(() => {
    setProgress(NONE)
    return verify(leaves.current.signal, setProgress)
  })
  if (error !== null) return <Problem error={error} retry={() => mutate()} what="The audit could not be verified" />
  return (
    <div className="body" style={{ paddingBottom: 12 }} role="status">
      {isPending ? (
        <Group component="label" gap="sm">
          <progress style={{ width: 160, accentColor: 'var(--accent)' }} value={verified} max={total || 1} />
          <span className="dim">{`Verified ${verified.toLocaleString('en')} of ${total.toLocaleString('en')} rows`}</span>
        </Group>
      ) : (
        <Group gap="sm">
          {data !== undefined && <Result verified={verified} last={data} />}
          <Button variant="default" onClick={() => mutate()}>
            {data === undefined ? 'Verify that no row was changed' : 'Verify again'}
          </Button>
        </Group>
      )}
    </div>
  )
}

/** @returns the last answer */
async function verify(signal: AbortSignal, onProgress: (progress: typeof NONE) => void): Promise<AuditVerification> {
  let verified = 0
  let from: number | undefined
  let total = 0
  for (;;) {
    const last = await api.audit.verify(from === undefined ? {} : { from_sequence: from }, { signal })
    verified += last.verified
    // The first answer names the newest row. The oldest rows expire, so the chain may end before its row 1.
    if (total === 0) total = last.head?.sequence ?? 0
    onProgress({ verified, total })
    if (last.state === 'broken' || last.next_sequence === null) return last
    from = last.next_sequence
  }
}

function Result({ verified, last }: { verified: number; last: AuditVerification }) {
  if (last.broken !== null) return <Badge tone="alarm">{last.broken.text}</Badge>
  if (last.head === null) return <Badge tone="quiet">No row is in the chain yet</Badge>
  return <Badge tone="good">{`Intact: ${verified.toLocaleString('en')} rows, none changed or missing`}</Badge>
}
