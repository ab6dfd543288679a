import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { Storm } from '../../api/storms.ts'
import { isLostRace } from '../../parts/is-lost-race.ts'
import { isTyping } from '../../parts/is-typing.ts'
import { LostRace } from '../../parts/lost-race.tsx'
import { Problem } from '../../parts/problem.tsx'
import { ResolveDialog } from '../incidents/resolve-dialog.tsx'
import { type Change, sendChange } from '../incidents/use-incident-change.ts'
import type { Resolution } from '../incidents/words.ts'
import classes from './storm.module.css'

/** Acknowledges and resolves all incidents of a storm as one. If the reader may do so, `a` acknowledges and `r` resolves. */
export function useStormControls(storm: Storm, canWrite: boolean) {
  const { storm_id, state } = storm
  const queryClient = useQueryClient()
  const [first, setFirst] = useState<Resolution['reason'] | 'none'>()
  const change = useMutation({
    mutationFn: (wanted: Change) => sendChange(storm_id, { change: wanted }),
    onSuccess: () => setFirst(undefined),
    onSettled: () =>
      Promise.all(['storms', 'incidents', 'actions'].map(key => queryClient.invalidateQueries({ queryKey: [key] }))),
  })
  const { mutate, isPending } = change
  useEffect(() => {
    if (!canWrite || state === 'resolved') return
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || isTyping(event)) return
      if (event.key === 'a' && state === 'open' && !isPending) mutate({ kind: 'acknowledge' })
      else if (event.key === 'r') setFirst('none')
      else return
      event.preventDefault()
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [canWrite, state, isPending, mutate])
  return { change, first, setFirst }
}

type Controls = ReturnType<typeof useStormControls>

export function StormButtons({ storm: { state }, controls }: { storm: Storm; controls: Controls }) {
  const { change, setFirst } = controls
  if (state === 'resolved') {
    return (
      <Button variant="default" loading={change.isPending} onClick={() => change.mutate({ kind: 'reopen' })}>
        Open again
      </Button>
    )
  }
  return (
    <>
      {state === 'open' && (
        <Button title="a" loading={change.isPending} onClick={() => change.mutate({ kind: 'acknowledge' })}>
          Acknowledge all
        </Button>
      )}
      <Button title="r" variant={state === 'open' ? 'default' : 'filled'} onClick={() => setFirst('none')}>
        Resolve all
      </Button>
      <Button variant="default" onClick={() => setFirst('our_own_change')}>
        This was us
      </Button>
    </>
  )
}

export function StormDialogs({ storm, controls }: { storm: Storm; controls: Controls }) {
  const { change, first, setFirst } = controls
  const { error, isPending, reset, variables } = change
  const left = storm.incidents.open + storm.incidents.acknowledged
  const race =
    error !== null && isLostRace(error) ? (
      <LostRace
        theirs={error.message}
        yours={variables?.kind === 'resolve' ? 'Resolve all incidents' : 'Change all incidents'}
        onKeepTheirs={() => {
          reset()
          setFirst(undefined)
        }}
      />
    ) : null
  const problem = error === null || race !== null ? null : <Problem error={error} what="The storm was not changed" />
  if (first === undefined) {
    return race === null && problem === null ? null : <div className={classes.body}>{race ?? problem}</div>
  }
  return (
    <ResolveDialog
      title={`Resolve ${left} ${left === 1 ? 'incident' : 'incidents'}`}
      isBusy={isPending}
      problem={problem}
      race={race}
      {...(first === 'none' ? {} : { first })}
      onClose={() => {
        reset()
        setFirst(undefined)
      }}
      onResolve={resolution => change.mutate({ kind: 'resolve', resolution })}
    />
  )
}
