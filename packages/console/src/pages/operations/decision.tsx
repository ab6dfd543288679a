import type { ShownOperation } from '@backstop/client'
import { Button, Textarea } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { api } from '../../api/client.ts'
import { isLostRace } from '../../parts/is-lost-race.ts'
import { LostRace } from '../../parts/lost-race.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import { useSession } from '../../session/session.ts'
import { useActors } from './actors.ts'
import { BudgetEffects } from './budget-effects.tsx'
import classes from './operations.module.css'
import { nameOperation, OPERATION_STATES } from './words.ts'

type Verb = 'approve' | 'decline'

/** The question of an operation that waits for approval, and what either answer does. */
export function Decision({ operation }: { operation: ShownOperation }) {
  const { may } = useSession()
  const queryClient = useQueryClient()
  const [note, setNote] = useState('')
  const [refused, setRefused] = useState<Verb>()
  const isSent = useRef(false)
  const decide = useMutation({
    mutationFn: (verb: Verb) => {
      const body = note.trim() === '' ? {} : { reason: note.trim() }
      return verb === 'approve'
        ? api.operations.approve(operation.operation_id, body)
        : api.operations.decline(operation.operation_id, body)
    },
    onSuccess: decided => queryClient.setQueryData(['operations', 'one', decided.operation_id], decided),
    onError: (error, verb) => isLostRace(error) && setRefused(verb),
    onSettled: () => {
      isSent.current = false
      void queryClient.invalidateQueries({ queryKey: ['operations'] })
      void queryClient.invalidateQueries({ queryKey: ['budgets'] })
    },
  })
  const send = (verb: Verb) => {
    // A second click may come before React has disabled the buttons.
    if (isSent.current) return
    isSent.current = true
    decide.mutate(verb)
  }
  if (refused !== undefined) {
    return <LateDecision operation={operation} verb={refused} note={note} onKeep={() => setRefused(undefined)} />
  }
  if (operation.state !== 'approval_pending') return null
  const { approval, kind, reason } = operation
  const mayDecide = may('approvals:write', operation.project_id)
  return (
    <section className={classes.decision} aria-labelledby="decision">
      <h2 id="decision">{mayDecide ? 'Approve or decline?' : 'It waits for approval'}</h2>
      {reason !== null && <p dir="auto">“{reason}”</p>}
      <p className="dim">
        Asked <Time at={approval?.requested_at} />
        {approval != null && (
          <>
            {' '}
            · expires <Time at={approval.deadline_at} />
          </>
        )}
      </p>
      {kind === 'refund' && <BudgetEffects operation={operation} />}
      {mayDecide ? (
        <>
          <Textarea
            label="Note (optional)"
            maxLength={500}
            value={note}
            onChange={event => setNote(event.currentTarget.value)}
          />
          <div className={classes.buttons}>
            <Button
              loading={decide.isPending && decide.variables === 'approve'}
              disabled={decide.isPending}
              onClick={() => send('approve')}
            >
              Approve
            </Button>
            <Button
              variant="default"
              loading={decide.isPending && decide.variables === 'decline'}
              disabled={decide.isPending}
              onClick={() => send('decline')}
            >
              Decline
            </Button>
          </div>
        </>
      ) : (
        <p className="dim">To decide, you need the role approver.</p>
      )}
      {decide.error !== null && !isLostRace(decide.error) && (
        <Problem error={decide.error} what="Your decision was not saved" />
      )}
    </section>
  )
}

interface LateProps {
  operation: ShownOperation
  verb: Verb
  note: string
  onKeep: () => void
}

/** Shown to a person whose decision came after another one. A decision is final, so only theirs can stand. */
function LateDecision({ operation, verb, note, onKeep }: LateProps) {
  const { approval, state } = operation
  const { decidedBy } = useActors(operation)
  const word = OPERATION_STATES.find(({ value }) => value === state)?.label ?? state
  const yours = `${verb === 'approve' ? 'Approve' : 'Decline'} “${nameOperation(operation)}”`
  return (
    <div className={classes.next}>
      <LostRace
        theirs={
          <span dir="auto">
            {word}
            {approval?.decided_at != null && (
              <>
                {' '}
                by {decidedBy}, <Time at={approval.decided_at} />
              </>
            )}
          </span>
        }
        yours={<span dir="auto">{note.trim() === '' ? yours : `${yours}: ${note.trim()}`}</span>}
        onKeepTheirs={onKeep}
      />
    </div>
  )
}
