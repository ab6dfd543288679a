import type { ShownOperation } from '@backstop/client'
import { Button, Group, Textarea } from '@mantine/core'
import { useInputState } from '@mantine/hooks'
import { useRef, useState } from 'react'
import { api, queryClient, refresh, useWrite } from '../../api/client.ts'
import { operationQuery } from '../../api/operations.ts'
import { isLostRace, LostRace } from '../../parts/form/index.ts'
import { Problem } from '../../parts/page/index.ts'
import { Time } from '../../parts/show/index.ts'
import { useSession } from '../../session/session.ts'
import { useActors } from './actors.ts'
import { BudgetEffects } from './budget-effects.tsx'
import classes from './operations.module.css'
import { SamePayment } from './same-payment.tsx'
import { nameOperation, OPERATION_STATES } from './words.ts'

type Verb = 'approve' | 'decline'

/** Sends the answer of a person, once. `refused` is the answer that came after another one. */
function useDecision({ operation_id }: ShownOperation, note: string) {
  const [refused, setRefused] = useState<Verb>()
  const isSent = useRef(false)
  const readAgain = () => {
    isSent.current = false
    void refresh('operations', 'budgets')
  }
  const decide = useWrite(
    (verb: Verb) => api.operations[verb](operation_id, note.trim() === '' ? {} : { reason: note.trim() }),
    {
      onDone(decided) {
        queryClient.setQueryData<object>(operationQuery(operation_id).queryKey, decided)
        readAgain()
      },
      onError(error, verb) {
        if (isLostRace(error)) setRefused(verb)
        readAgain()
      },
    },
  )
  const send = (verb: Verb) => {
    // A second click may come before React has disabled the buttons.
    if (isSent.current) return
    isSent.current = true
    decide.mutate(verb)
  }
  return { decide, send, refused, forget: () => setRefused(undefined) }
}

/** The question of an operation that waits for approval, and what either answer does. */
export function Decision({ operation }: { operation: ShownOperation }) {
  const { may } = useSession()
  const [note, setNote] = useInputState('')
  const { decide, send, refused, forget } = useDecision(operation, note)
  if (refused !== undefined) return <LateDecision operation={operation} verb={refused} note={note} onKeep={forget} />
  if (operation.state !== 'approval_pending') return null
  const { approval, kind, reason } = operation
  const mayDecide = may('approvals:write', operation.project_id)
  const buttonOf = (verb: Verb) => ({
    loading: decide.isPending && decide.variables === verb,
    disabled: decide.isPending,
    onClick: () => send(verb),
  })
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
      <SamePayment operation={operation} />
      {kind === 'refund' && <BudgetEffects operation={operation} />}
      {mayDecide ? (
        <>
          <Textarea label="Note (optional)" maxLength={500} value={note} onChange={setNote} />
          <Group gap="sm">
            <Button {...buttonOf('approve')}>Approve</Button>
            <Button variant="default" {...buttonOf('decline')}>
              Decline
            </Button>
          </Group>
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
