import type { AuditVerification } from '@backstop/client'
import { Button } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { api } from '../../api/client.ts'
import { Badge } from '../../parts/badges.tsx'
import { Problem } from '../../parts/problem.tsx'
import classes from './system.module.css'

type Verification =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running'; readonly verified: number; readonly total: number }
  | { readonly kind: 'done'; readonly verified: number; readonly last: AuditVerification }
  | { readonly kind: 'failed'; readonly error: Error }

/** Verifies the hash chain of the audit, from the newest row to the oldest, and shows the progress. */
export function VerifyChain() {
  const [state, setState] = useState<Verification>({ kind: 'idle' })
  const leaves = useRef(new AbortController())
  useEffect(() => {
    leaves.current = new AbortController()
    return () => leaves.current.abort()
  }, [])
  const run = async () => {
    const { signal } = leaves.current
    setState({ kind: 'running', verified: 0, total: 0 })
    try {
      const done = await verify(signal, (verified, total) => setState({ kind: 'running', verified, total }))
      setState({ kind: 'done', ...done })
    } catch (error) {
      if (!signal.aborted) setState({ kind: 'failed', error: error as Error })
    }
  }
  if (state.kind === 'failed') {
    return <Problem error={state.error} retry={() => void run()} what="The audit could not be verified" />
  }
  return (
    <div className={classes.note} role="status">
      {state.kind === 'running' ? (
        <label className={classes.buttons}>
          <progress value={state.verified} max={state.total || 1} />
          <span className="dim">{`Verified ${state.verified.toLocaleString()} of ${state.total.toLocaleString()} rows`}</span>
        </label>
      ) : (
        <div className={classes.buttons}>
          {state.kind === 'done' && <Result verified={state.verified} last={state.last} />}
          <Button variant="default" onClick={() => void run()}>
            {state.kind === 'done' ? 'Verify again' : 'Verify that no row was changed'}
          </Button>
        </div>
      )}
    </div>
  )
}

async function verify(signal: AbortSignal, onProgress: (verified: number, total: number) => void) {
  let verified = 0
  let from: number | undefined
  let total = 0
  for (;;) {
    const last = await api.audit.verify(from === undefined ? {} : { from_sequence: from }, { signal })
    verified += last.verified
    // The first answer names the newest row. The oldest rows expire, so the chain may end before its row 1.
    if (total === 0) total = last.head?.sequence ?? 0
    onProgress(verified, total)
    if (last.state === 'broken' || last.next_sequence === null) return { verified, last }
    from = last.next_sequence
  }
}

function Result({ verified, last }: { verified: number; last: AuditVerification }) {
  if (last.broken !== null) return <Badge tone="alarm">{last.broken.text}</Badge>
  if (last.head === null) return <Badge tone="quiet">No row is in the chain yet</Badge>
  return <Badge tone="good">{`Intact: ${verified.toLocaleString()} rows, none changed or missing`}</Badge>
}
