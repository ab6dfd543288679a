import type { IncidentWithTimeline } from '@backstop/client'
import type { ReactNode } from 'react'
import { localizeTimes } from '../../format/times.ts'
import classes from './incident.module.css'

/** A part of the page of an incident or a storm. */
export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={classes.section}>
      <h2>{title}</h2>
      {children}
    </section>
  )
}

/** What to do now about an incident or a storm, in the words of the dashboard of this provider. */
export function NextSteps({ incident }: { incident: Pick<IncidentWithTimeline, 'next_steps' | 'state'> }) {
  const { next_steps, state } = incident
  if (next_steps == null || state === 'resolved') return null
  return (
    <Section title="What to do">
      <p className={classes.sentence} dir="auto">
        {localizeTimes(next_steps.sentence)}
      </p>
      <ol className={classes.steps}>
        {next_steps.steps.map(step => (
          <li key={step} dir="auto">
            {localizeTimes(step)}
          </li>
        ))}
      </ol>
    </Section>
  )
}
