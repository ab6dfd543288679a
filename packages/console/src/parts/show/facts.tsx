import type { ReactNode } from 'react'
import { CopyId } from './copy-id.tsx'
import classes from './facts.module.css'
import { Money } from './money.tsx'
import { Time } from './time.tsx'

export type FactList = readonly (readonly [label: string, value: ReactNode])[]

/** Labels with their values. A fact whose value is null or undefined is left out. */
export function Facts({ facts }: { facts: FactList }) {
  return (
    <dl className={classes.facts}>
      {facts
        .filter(([, value]) => value !== null && value !== undefined)
        .map(([label, value]) => (
          <div key={label} className={classes.fact}>
            <dt>{label}</dt>
            <dd dir="auto">{value}</dd>
          </div>
        ))}
    </dl>
  )
}

/** The value of a fact that is a time. */
export function timeFact(at: string | null | undefined): ReactNode {
  return at == null ? null : <Time at={at} />
}

/** The value of a fact that is an id, which a click copies. */
export function idFact(id: string | null | undefined, length = 32): ReactNode {
  return id == null ? null : <CopyId id={id} length={length} />
}

/** The value of a fact that is an amount in minor units. */
export function moneyFact(amount: number | null, currency: string | null): ReactNode {
  return amount === null ? null : <Money amount={amount} currency={currency} />
}
