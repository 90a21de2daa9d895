import { Component, type ReactNode } from "react";

interface ErrorBoundaryProps {
  /** Shown where the children can't be. */
  readonly fallback: ReactNode;
  /** When this changes, the children get another chance. */
  readonly subject: unknown;
  readonly children: ReactNode;
}

interface ErrorBoundaryState {
  /** The subject that could not be shown. */
  readonly failed: { readonly subject: unknown } | null;
}

/** Keeps an error of its children to itself: without it, React removes the whole page. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, ErrorBoundaryState> {
  override readonly state: ErrorBoundaryState = { failed: null };

  override componentDidCatch(): void {
    this.setState({ failed: { subject: this.props.subject } });
  }

  static getDerivedStateFromError(): Partial<ErrorBoundaryState> {
    return { failed: { subject: FAILED_JUST_NOW } };
  }

  override render(): ReactNode {
    const { failed } = this.state;
    const isFailed = failed !== null && (failed.subject === FAILED_JUST_NOW || failed.subject === this.props.subject);
    return isFailed ? this.props.fallback : this.props.children;
  }
}

const FAILED_JUST_NOW = Symbol("failed just now");
